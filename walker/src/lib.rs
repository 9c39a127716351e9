//! From a recording to a trace: walks each thread's recorded path over the side-car.
