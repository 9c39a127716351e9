; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 7 t1 read x
;   r = 10 t2 write x
;   s = 12 t1 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   token<i>: which signal or post the wake or down i uses up; no two use the same
; Events:
;   0 t1 acquire m
;   1 t1 wait c, m
;   2 t2 acquire m
;   3 t2 wait c, m
;   4 t3 signal c
;   5 t3 broadcast c
;   6 t1 wake c, m
;   7 t1 read x
;   8 t1 release m
;   9 t2 wake c, m
;   10 t2 write x
;   11 t2 release m
;   12 t1 read x
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
(declare-const o10 Int)
(declare-const o11 Int)
(declare-const o12 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b0_11 () Bool (<= o0 o11))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_4 () Bool (<= o1 o4))
(define-fun b1_5 () Bool (<= o1 o5))
(define-fun b1_6 () Bool (<= o1 o6))
(define-fun b1_8 () Bool (<= o1 o8))
(define-fun b1_9 () Bool (<= o1 o9))
(define-fun b2_3 () Bool (<= o2 o3))
(define-fun b2_8 () Bool (<= o2 o8))
(define-fun b3_4 () Bool (<= o3 o4))
(define-fun b3_5 () Bool (<= o3 o5))
(define-fun b3_6 () Bool (<= o3 o6))
(define-fun b3_9 () Bool (<= o3 o9))
(define-fun b4_5 () Bool (<= o4 o5))
(define-fun b4_6 () Bool (<= o4 o6))
(define-fun b4_9 () Bool (<= o4 o9))
(define-fun b5_6 () Bool (<= o5 o6))
(define-fun b5_9 () Bool (<= o5 o9))
(define-fun b6_7 () Bool (<= o6 o7))
(define-fun b6_8 () Bool (<= o6 o8))
(define-fun b6_11 () Bool (<= o6 o11))
(define-fun b7_8 () Bool (<= o7 o8))
(define-fun b7_10 () Bool (<= o7 o10))
(define-fun b8_9 () Bool (<= o8 o9))
(define-fun b8_12 () Bool (<= o8 o12))
(define-fun b9_10 () Bool (<= o9 o10))
(define-fun b9_11 () Bool (<= o9 o11))
(define-fun b10_11 () Bool (<= o10 o11))
(define-fun b10_12 () Bool (<= o10 o12))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const in6 Bool)
(declare-const in8 Bool)
(declare-const in9 Bool)
(declare-const in10 Bool)
(declare-const in11 Bool)
(declare-const in12 Bool)
(declare-const token6 Int)
(declare-const token9 Int)
; program order: 1 t1 wait c, m
(assert (or (not in1) in0))
(assert b0_1)
; program order: 3 t2 wait c, m
(assert b2_3)
(assert (or (not in3) in2))
; program order: 5 t3 broadcast c
(assert (or (not in5) in4))
(assert b4_5)
; program order: 6 t1 wake c, m
(assert (or (not in6) in1))
(assert b1_6)
; program order: 7 t1 read x
(assert b6_7)
; program order: 8 t1 release m
(assert (or (not in8) in6))
(assert b1_8)
(assert b6_8)
(assert b7_8)
; program order: 9 t2 wake c, m
(assert b3_9)
(assert (or (not in9) in2))
(assert (or (not in9) in3))
; program order: 10 t2 write x
(assert (or (not in10) in9))
(assert b9_10)
; program order: 11 t2 release m
(assert (or (not in11) in9))
(assert b9_11)
(assert (or (not in11) in10))
(assert b10_11)
; program order: 12 t1 read x
(assert (or (not in12) in8))
(assert b8_12)
; locks: 2 t2 acquire m
(assert (or (not in0) (not in2) in1 in3))
(assert (or (not in0) (not in2) in1 (not b0_3)))
(assert (or (not in0) (not in2) b1_2 in3))
(assert (or (not in0) (not in2) b1_2 (not b0_3)))
; locks: 6 t1 wake c, m
(assert (or (not in6) (not in2) in8 in3))
(assert (or (not in6) (not in2) in8 b3_6))
(assert (or (not in6) (not in2) (not b2_8) in3))
(assert (or (not in6) (not in2) (not b2_8) b3_6))
; locks: 9 t2 wake c, m
(assert (or (not in0) (not in9) in1 in11))
(assert (or (not in0) (not in9) in1 (not b0_11)))
(assert (or (not in0) (not in9) b1_9 in11))
(assert (or (not in0) (not in9) b1_9 (not b0_11)))
(assert (or (not in6) (not in9) in8 in11))
(assert (or (not in6) (not in9) in8 (not b6_11)))
(assert (or (not in6) (not in9) b8_9 in11))
(assert (or (not in6) (not in9) b8_9 (not b6_11)))
; condition variables: 6 t1 wake c, m
(assert (or (not in6) (and in4 b1_4 b4_6 (= token6 4)) (and in5 b1_5 b5_6 (= token6 19))))
; condition variables: 9 t2 wake c, m
(assert (or (not in9) (and in4 b3_4 b4_9 (= token9 4)) (and in5 b3_5 b5_9 (= token9 22))))
(assert (or (not in6) (not in9) (not (= token6 token9))))
; violation: (f, r, s) = (7, 10, 12)
(assert in12)
(assert in10)
(assert b7_10)
(assert b10_12)
(check-sat)
