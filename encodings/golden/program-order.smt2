; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 3 t1 write x
;   r = 10 t2 write x
;   s = 9 t1 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
; Events:
;   0 t1 fork t2
;   1 t1 fork t3
;   2 t3 write y
;   3 t1 write x
;   4 t2 arrive b, round 1
;   5 t1 arrive b, round 1
;   6 t2 depart b, round 1
;   7 t1 depart b, round 1
;   8 t1 join t3
;   9 t1 read x
;   10 t2 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(declare-const o6 Int)
(declare-const o7 Int)
(declare-const o8 Int)
(declare-const o9 Int)
(declare-const o10 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_4 () Bool (<= o0 o4))
(define-fun b0_5 () Bool (<= o0 o5))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_5 () Bool (<= o1 o5))
(define-fun b2_8 () Bool (<= o2 o8))
(define-fun b4_6 () Bool (<= o4 o6))
(define-fun b4_7 () Bool (<= o4 o7))
(define-fun b5_6 () Bool (<= o5 o6))
(define-fun b5_7 () Bool (<= o5 o7))
(define-fun b6_10 () Bool (<= o6 o10))
(define-fun b7_8 () Bool (<= o7 o8))
(define-fun b8_9 () Bool (<= o8 o9))
(define-fun b9_10 () Bool (<= o9 o10))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const in6 Bool)
(declare-const in7 Bool)
(declare-const in8 Bool)
(declare-const in9 Bool)
(declare-const in10 Bool)
; program order: 1 t1 fork t3
(assert b0_1)
(assert (or (not in1) in0))
; program order: 2 t3 write y
(assert b1_2)
(assert (or (not in2) in1))
; program order: 4 t2 arrive b, round 1
(assert b0_4)
(assert (or (not in4) in0))
; program order: 5 t1 arrive b, round 1
(assert b0_5)
(assert (or (not in5) in0))
(assert b1_5)
(assert (or (not in5) in1))
; program order: 6 t2 depart b, round 1
(assert b4_6)
(assert b5_6)
(assert (or (not in6) in4))
(assert (or (not in6) in5))
; program order: 7 t1 depart b, round 1
(assert b5_7)
(assert b4_7)
(assert (or (not in7) in5))
(assert (or (not in7) in4))
; program order: 8 t1 join t3
(assert b7_8)
(assert b2_8)
(assert (or (not in8) in7))
(assert (or (not in8) in2))
; program order: 9 t1 read x
(assert (or (not in9) in8))
(assert b8_9)
; program order: 10 t2 write x
(assert (or (not in10) in6))
(assert b6_10)
; violation: (f, r, s) = (3, 10, 9)
(assert in9)
(assert in10)
(assert (not b9_10))
(check-sat)
