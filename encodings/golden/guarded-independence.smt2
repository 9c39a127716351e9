; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 3 t2 write x
;   s = 1 t1 write x
; The values must be such that the order matters (guarded independence) of
;   f, which reads, and r, which writes; and of r and s, which writes.
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   v<i>: what the variable of event i holds just before it, which is what a read returns
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
; Events:
;   0 t1 read x
;   1 t1 write x
;   2 t2 read x
;   3 t2 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o2 Int)
(declare-const o3 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b1_2 () Bool (<= o1 o2))
(define-fun b1_3 () Bool (<= o1 o3))
(define-fun b2_3 () Bool (<= o2 o3))
(declare-const in0 Bool)
(declare-const in1 Bool)
(declare-const in2 Bool)
(declare-const in3 Bool)
(declare-const v0 Int)
(declare-const v2 Int)
(declare-const rf0_init Bool)
(declare-const rf0_3 Bool)
(declare-const rf2_init Bool)
(declare-const rf2_1 Bool)
; program order: 1 t1 write x
(assert b0_1)
(assert (or (not in1) in0))
; program order: 3 t2 write x
(assert (or (not in3) in2))
(assert b2_3)
; reads-from: 0 t1 read x
(assert (or (not rf0_init) (= v0 0)))
(assert (or (not rf0_3) (= v0 (+ v2 1))))
(assert (or (not in0) rf0_init rf0_3))
(assert (or (not rf0_3) in3))
(assert (or (not rf0_3) (not b0_3)))
(assert (or (not rf0_init) (not in3) b0_3))
; reads-from: 2 t2 read x
(assert (or (not rf2_init) (= v2 0)))
(assert (or (not rf2_1) (= v2 (+ v0 1))))
(assert (or (not in2) rf2_init rf2_1))
(assert (or (not rf2_1) in1))
(assert (or (not rf2_1) b1_2))
(assert (or (not rf2_init) (not in1) (not b1_2)))
; violation: (f, r, s) = (0, 3, 1)
(assert in1)
(assert in3)
(assert b0_3)
(assert (not b1_3))
(assert (not (= v0 (+ v2 1))))
(assert (not (= (+ v2 1) (+ v0 1))))
(check-sat)
