; Is there an execution of all events in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 3 t2 write x
;   s = 1 t1 read x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   v<i>: what the variable of event i holds just before it, which is what a read returns
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
; Events:
;   0 t1 read x
;   1 t1 read x
;   2 t1 assume
;   3 t2 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o3 Int)
(define-fun b0_1 () Bool (<= o0 o1))
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b1_3 () Bool (<= o1 o3))
(declare-const v0 Int)
(declare-const v1 Int)
(declare-const rf0_init Bool)
(declare-const rf0_3 Bool)
(declare-const rf1_init Bool)
(declare-const rf1_3 Bool)
; program order: 1 t1 read x
(assert b0_1)
; reads-from: 0 t1 read x
(assert (or (not rf0_init) (= v0 0)))
(assert (or (not rf0_3) (= v0 1)))
(assert (or rf0_init rf0_3))
(assert (or (not rf0_3) (not b0_3)))
(assert (or (not rf0_init) b0_3))
; reads-from: 1 t1 read x
(assert (or (not rf1_init) (= v1 0)))
(assert (or (not rf1_3) (= v1 1)))
(assert (or rf1_init rf1_3))
(assert (or (not rf1_3) (not b1_3)))
(assert (or (not rf1_init) b1_3))
; guards: 2 t1 assume
(assert (= v0 v1))
; violation: (f, r, s) = (0, 3, 1)
(assert b0_3)
(assert (not b1_3))
(check-sat)
