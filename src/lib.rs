//! Predicts atomicity violations.
