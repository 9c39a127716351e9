; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 7 t2 write x
;   s = 8 t1 write x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   v<i>: what the variable of event i holds just before it, which is what a read returns
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
; Events:
;   0 t1 read x
;   1 t1 write y
;   2 t3 write n
;   3 t3 write n
;   4 t2 read n
;   5 t2 assume
;   6 t2 read y
;   7 t2 write x
;   8 t1 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o3 Int)
(declare-const o4 Int)
(declare-const o6 Int)
(declare-const o7 Int)
(declare-const o8 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_7 () Bool (<= o0 o7))
(define-fun b1_6 () Bool (<= o1 o6))
(define-fun b1_8 () Bool (<= o1 o8))
(define-fun b2_3 () Bool (<= o2 o3))
(define-fun b2_4 () Bool (<= o2 o4))
(define-fun b3_4 () Bool (<= o3 o4))
(define-fun b4_6 () Bool (<= o4 o6))
(define-fun b6_7 () Bool (<= o6 o7))
(define-fun b7_8 () Bool (<= o7 o8))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in6 Bool)
(declare-const in7 Bool)
(declare-const in8 Bool)
(declare-const v0 Int)
(declare-const v6 Int)
(declare-const rf0_init Bool)
(declare-const rf0_7 Bool)
(declare-const rf4_2 Bool)
(declare-const rf4_3 Bool)
(declare-const rf6_init Bool)
(declare-const rf6_1 Bool)
; program order: 1 t1 write y
(assert (or (not in1) in0))
(assert b0_1)
; program order: 3 t3 write n
(assert (or (not in3) in2))
(assert b2_3)
; program order: 6 t2 read y
(assert b4_6)
; program order: 7 t2 write x
(assert (or (not in7) in6))
(assert b6_7)
; program order: 8 t1 write x
(assert (or (not in8) in1))
(assert b1_8)
; reads-from: 0 t1 read x
(assert (or (not rf0_init) (= v0 0)))
(assert (or (not rf0_7) (= v0 7)))
(assert (or (not in0) rf0_init rf0_7))
(assert (or (not rf0_7) in7))
(assert (or (not rf0_7) (not b0_7)))
(assert (or (not rf0_init) (not in7) b0_7))
; reads-from: 4 t2 read n
(assert (or (not rf4_3) in3))
(assert (or (not rf4_3) b3_4))
(assert (or (not rf4_2) in2))
(assert (or (not rf4_2) b2_4))
(assert (or (not rf4_2) (not in3) (not b3_4)))
; reads-from: 6 t2 read y
(assert (or (not rf6_init) (= v6 0)))
(assert (or (not rf6_1) (= v6 (+ v0 1))))
(assert (or (not in6) rf6_init rf6_1))
(assert (or (not rf6_1) in1))
(assert (or (not rf6_1) b1_6))
(assert (or (not rf6_init) (not in1) (not b1_6)))
; guards: 5 t2 assume
(assert (or (not in6) (or rf4_2 rf4_3)))
; guards: 7 t2 write x
(assert (or (not in7) (>= v6 1)))
; violation: (f, r, s) = (0, 7, 8)
(assert in8)
(assert in7)
(assert b0_7)
(assert b7_8)
(check-sat)
