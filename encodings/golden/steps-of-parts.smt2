; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read low, part 1 of 2
;   r = 2 t2 write low, part 1 of 2
;   s = 4 t1 read low, part 1 of 2
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
;   open<i>: the prefix ends inside of the step of several parts that begins with event i
; Events:
;   0 t1 read low, part 1 of 2
;   1 t1 read high, part 2 of 2
;   2 t2 write low, part 1 of 2
;   3 t2 write high, part 2 of 2
;   4 t1 read low, part 1 of 2
;   5 t1 read high, part 2 of 2
(set-logic ALL)
(declare-const o0 Int)
(declare-const o2 Int)
(declare-const o4 Int)
(define-fun b0_2 () Bool (<= o0 o2))
(define-fun b0_4 () Bool (<= o0 o4))
(define-fun b2_4 () Bool (<= o2 o4))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const rf0_init Bool)
(declare-const rf1_init Bool)
(declare-const rf4_2 Bool)
(declare-const open0 Bool)
(declare-const open2 Bool)
(declare-const open4 Bool)
; program order: 0 t1 read low, part 1 of 2
(assert (or (not in0) in1 open0))
; program order: 1 t1 read high, part 2 of 2
(assert (or (not in1) in0))
; program order: 2 t2 write low, part 1 of 2
(assert (or (not in2) in3 open2))
; program order: 3 t2 write high, part 2 of 2
(assert (or (not in3) in2))
; program order: 4 t1 read low, part 1 of 2
(assert (or (not in4) in1))
(assert (or (not in4) in5 open4))
(assert b0_4)
; program order: 5 t1 read high, part 2 of 2
(assert (or (not in5) in4))
; reads-from: 0 t1 read low, part 1 of 2
(assert (or (not in1) rf0_init))
(assert (or (not rf0_init) (not in2) b0_2))
; reads-from: 1 t1 read high, part 2 of 2
(assert (or (not in4) rf1_init))
(assert (or (not rf1_init) (not in3) b0_2))
; reads-from: 4 t1 read low, part 1 of 2
(assert (or (not in5) rf4_2))
(assert (or (not rf4_2) in2))
(assert (or (not rf4_2) b2_4))
; violation: (f, r, s) = (0, 2, 4)
(assert in4)
(assert in2)
(assert b0_2)
(assert b2_4)
(assert (not open0))
(assert (not open2))
(assert open4)
(assert (not in5))
(assert (or (not in2) b2_4))
(check-sat)
