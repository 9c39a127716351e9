; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 5 t1 read x
;   r = 9 t3 write x
;   s = 6 t1 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
; Events:
;   0 t2 acquire l
;   1 t3 busy l
;   2 t2 release l
;   3 t1 acquire_shared l
;   4 t2 acquire_shared l
;   5 t1 read x
;   6 t1 read x
;   7 t1 release_shared l
;   8 t2 release_shared l
;   9 t3 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o3 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(declare-const o6 Int)
(declare-const o7 Int)
(declare-const o8 Int)
(declare-const o9 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_2 () Bool (<= o0 o2))
(define-fun b0_7 () Bool (<= o0 o7))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_3 () Bool (<= o1 o3))
(define-fun b1_4 () Bool (<= o1 o4))
(define-fun b1_7 () Bool (<= o1 o7))
(define-fun b1_8 () Bool (<= o1 o8))
(define-fun b1_9 () Bool (<= o1 o9))
(define-fun b2_3 () Bool (<= o2 o3))
(define-fun b2_4 () Bool (<= o2 o4))
(define-fun b3_5 () Bool (<= o3 o5))
(define-fun b3_7 () Bool (<= o3 o7))
(define-fun b4_8 () Bool (<= o4 o8))
(define-fun b5_6 () Bool (<= o5 o6))
(define-fun b5_7 () Bool (<= o5 o7))
(define-fun b5_9 () Bool (<= o5 o9))
(define-fun b6_7 () Bool (<= o6 o7))
(define-fun b6_9 () Bool (<= o6 o9))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in6 Bool)
(declare-const in7 Bool)
(declare-const in8 Bool)
(declare-const in9 Bool)
; program order: 2 t2 release l
(assert (or (not in2) in0))
(assert b0_2)
; program order: 4 t2 acquire_shared l
(assert (or (not in4) in2))
(assert b2_4)
; program order: 5 t1 read x
(assert b3_5)
; program order: 6 t1 read x
(assert (or (not in6) in3))
(assert b5_6)
; program order: 7 t1 release_shared l
(assert (or (not in7) in3))
(assert b3_7)
(assert (or (not in7) in6))
(assert b5_7)
(assert b6_7)
; program order: 8 t2 release_shared l
(assert (or (not in8) in4))
(assert b4_8)
; program order: 9 t3 write x
(assert (or (not in9) in1))
(assert b1_9)
; locks: 1 t3 busy l
(assert (or (not in1) (and in0 b0_1 (or (not in2) b1_2)) (and in3 (not b1_3) (or (not in7) b1_7)) (and in4 (not b1_4) (or (not in8) b1_8))))
; locks: 3 t1 acquire_shared l
(assert (or (not in3) (not in0) in7 in2))
(assert (or (not in3) (not in0) in7 b2_3))
(assert (or (not in3) (not in0) (not b0_7) in2))
(assert (or (not in3) (not in0) (not b0_7) b2_3))
; violation: (f, r, s) = (5, 9, 6)
(assert in6)
(assert in9)
(assert b5_9)
(assert (not b6_9))
(check-sat)
