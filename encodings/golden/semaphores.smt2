; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 1 t1 read x
;   r = 4 t2 write x
;   s = 7 t1 write x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   token<i>: which signal or post the wake or down i uses up; no two use the same
; Events:
;   0 t1 down q
;   1 t1 read x
;   2 t2 post q
;   3 t2 down q
;   4 t2 write x
;   5 t2 post q
;   6 t1 down q
;   7 t1 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(declare-const o6 Int)
(declare-const o7 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_2 () Bool (<= o0 o2))
(define-fun b0_5 () Bool (<= o0 o5))
(define-fun b0_6 () Bool (<= o0 o6))
(define-fun b1_4 () Bool (<= o1 o4))
(define-fun b1_6 () Bool (<= o1 o6))
(define-fun b2_4 () Bool (<= o2 o4))
(define-fun b2_5 () Bool (<= o2 o5))
(define-fun b2_6 () Bool (<= o2 o6))
(define-fun b4_5 () Bool (<= o4 o5))
(define-fun b4_7 () Bool (<= o4 o7))
(define-fun b5_6 () Bool (<= o5 o6))
(define-fun b6_7 () Bool (<= o6 o7))
(declare-const in0 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const in6 Bool)
(declare-const in7 Bool)
(declare-const token0 Int)
(declare-const token3 Int)
(declare-const token6 Int)
; program order: 1 t1 read x
(assert b0_1)
; program order: 3 t2 down q
(assert (or (not in3) in2))
; program order: 4 t2 write x
(assert (or (not in4) in3))
(assert b2_4)
; program order: 5 t2 post q
(assert (or (not in5) in3))
(assert b2_5)
(assert (or (not in5) in4))
(assert b4_5)
; program order: 6 t1 down q
(assert (or (not in6) in0))
(assert b0_6)
(assert b1_6)
; program order: 7 t1 write x
(assert (or (not in7) in6))
(assert b6_7)
; semaphores: 0 t1 down q
(assert (or (not in0) (= token0 0) (and in2 (not b0_2) (= token0 1)) (and in5 (not b0_5) (= token0 2))))
; semaphores: 3 t2 down q
(assert (or (not in3) (= token3 0) (and in2 (= token3 1))))
(assert (or (not in0) (not in3) (not (= token0 token3))))
; semaphores: 6 t1 down q
(assert (or (not in6) (= token6 0) (and in2 b2_6 (= token6 1)) (and in5 b5_6 (= token6 2))))
(assert (or (not in6) (not in3) (not (= token6 token3))))
(assert (or (not in6) (not in0) (not (= token6 token0))))
; violation: (f, r, s) = (1, 4, 7)
(assert in7)
(assert in4)
(assert b1_4)
(assert b4_7)
(check-sat)
