; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 6 t3 read x
;   r = 1 t2 write x
;   s = 7 t3 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
; Events:
;   0 t2 once_begin o
;   1 t2 write x
;   2 t2 once_fail o
;   3 t1 once_begin o
;   4 t1 once_end o
;   5 t3 once_pass o
;   6 t3 read x
;   7 t3 read x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o3 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(declare-const o6 Int)
(declare-const o7 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_2 () Bool (<= o0 o2))
(define-fun b0_4 () Bool (<= o0 o4))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_6 () Bool (<= o1 o6))
(define-fun b1_7 () Bool (<= o1 o7))
(define-fun b2_3 () Bool (<= o2 o3))
(define-fun b3_4 () Bool (<= o3 o4))
(define-fun b4_5 () Bool (<= o4 o5))
(define-fun b5_6 () Bool (<= o5 o6))
(define-fun b6_7 () Bool (<= o6 o7))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const in7 Bool)
; program order: 1 t2 write x
(assert (or (not in1) in0))
(assert b0_1)
; program order: 2 t2 once_fail o
(assert (or (not in2) in0))
(assert b0_2)
(assert (or (not in2) in1))
(assert b1_2)
; program order: 4 t1 once_end o
(assert (or (not in4) in3))
(assert b3_4)
; program order: 5 t3 once_pass o
(assert b4_5)
(assert (or (not in5) in4))
; program order: 6 t3 read x
(assert b5_6)
; program order: 7 t3 read x
(assert (or (not in7) in5))
(assert b6_7)
; locks: 3 t1 once_begin o
(assert (or (not in3) (not in0) in4 in2))
(assert (or (not in3) (not in0) in4 b2_3))
(assert (or (not in3) (not in0) (not b0_4) in2))
(assert (or (not in3) (not in0) (not b0_4) b2_3))
; once: 3 t1 once_begin o
(assert (or (not in0) (not in3) in2))
(assert (or (not in0) (not in3) b2_3))
; violation: (f, r, s) = (6, 1, 7)
(assert in7)
(assert in1)
(assert (not b1_6))
(assert b1_7)
(check-sat)
