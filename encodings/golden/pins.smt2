; Is there a prefix of an execution in which f, r and s happen in this order? sat: yes; unsat: no.
;   f = 0 t1 read x
;   r = 3 t2 write x
;   s = 5 t1 write x
;
; Names, for events of numbers i and j:
;   o<i>: the place of event i, and of all parts of its step; at equal places, lower numbers come first
;   b<i>_<j>: event i comes before event j; where it is false, j comes before i
;   in<i>: event i is in the prefix, and with it the assumes right before it
;   rf<i>_<j>: event j wrote that; rf<i>_init: it is the initial value
;   pins: values that went where they are not tracked are as observed
; Events:
;   0 t1 read x
;   1 t2 read p
;   2 t2 assume
;   3 t2 write x
;   4 t1 write p
;   5 t1 write x
(set-logic ALL)
(declare-const o0 Int)
(declare-const o1 Int)
(declare-const o3 Int)
(declare-const o4 Int)
(declare-const o5 Int)
(define-fun b0_3 () Bool (<= o0 o3))
(define-fun b0_4 () Bool (<= o0 o4))
(define-fun b1_3 () Bool (<= o1 o3))
(define-fun b1_4 () Bool (<= o1 o4))
(define-fun b3_5 () Bool (<= o3 o5))
(define-fun b4_5 () Bool (<= o4 o5))
(declare-const in3 Bool)
(declare-const in4 Bool)
(declare-const in5 Bool)
(declare-const rf1_init Bool)
(declare-const pins Bool)
; program order: 3 t2 write x
(assert b1_3)
; program order: 4 t1 write p
(assert b0_4)
; program order: 5 t1 write x
(assert (or (not in5) in4))
(assert b4_5)
; reads-from: 1 t2 read p
(assert (or (not rf1_init) (not in4) b1_4))
; pins: 2 t2 assume
(assert (or (not pins) (or (not in3) rf1_init)))
; violation: (f, r, s) = (0, 3, 5)
(assert in5)
(assert in3)
(assert b0_3)
(assert b3_5)
; pinned values are as observed
(assert pins)
(check-sat)
