; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 3 t2 write x
;   s = 6 t1 write x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
; Events:
;   0 t1 read x
;   1 t1 write y
;   2 t2 read y
;   3 t2 write x
;   4 t3 write y
;   5 t3 write y
;   6 t1 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o3 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(declare-const o6 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_4 () Bool (<= o1 o4))
(define-fun b1_5 () Bool (<= o1 o5))
(define-fun b1_6 () Bool (<= o1 o6))
(define-fun b2_3 () Bool (<= o2 o3))
(define-fun b2_4 () Bool (<= o2 o4))
(define-fun b2_5 () Bool (<= o2 o5))
(define-fun b3_6 () Bool (<= o3 o6))
(define-fun b4_5 () Bool (<= o4 o5))
(declare-const in1 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const in6 Bool)
(declare-const rf0_init Bool)
(declare-const rf2_1 Bool)
(declare-const rf2_4 Bool)
; program order: 1 t1 write y
(assert b0_1)
; program order: 3 t2 write x
(assert b2_3)
; program order: 5 t3 write y
(assert (or (not in5) in4))
(assert b4_5)
; program order: 6 t1 write x
(assert (or (not in6) in1))
(assert b1_6)
; reads-from: 0 t1 read x
(assert (or (not in1) rf0_init))
(assert (or (not rf0_init) (not in3) b0_3))
; reads-from: 2 t2 read y
(assert (or (not in3) rf2_1 rf2_4))
(assert (or (not rf2_4) in4))
(assert (or (not rf2_4) (not b2_4)))
(assert (or (not rf2_4) (not in1) (not b1_2) b1_4))
(assert (or (not rf2_4) (not in5) b2_5))
(assert (or (not rf2_1) in1))
(assert (or (not rf2_1) b1_2))
(assert (or (not rf2_1) (not in4) b2_4 (not b1_4)))
(assert (or (not rf2_1) (not in5) b2_5 (not b1_5)))
; violation: (f, r, s) = (0, 3, 6)
(assert in6)
(assert in3)
(assert b0_3)
(assert b3_6)
(check-sat)
