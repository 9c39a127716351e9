; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 3 t2 write x
;   s = 1 t1 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
; Events:
;   0 t1 read x
;   1 t1 read x
;   3 t2 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o3 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b1_3 () Bool (<= o1 o3))
(declare-const in1 Bool)
(declare-const in3 Bool)
; program order: 1 t1 read x
(assert b0_1)
; violation: (f, r, s) = (0, 3, 1)
(assert in1)
(assert in3)
(assert b0_3)
(assert (not b1_3))
(check-sat)
