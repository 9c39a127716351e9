"""What programs of tests/testing are built with: the definitions of wrong variants that have a right one, too, and options."""

MACROS = {
    "combination": ["-DTURNS=4", "-DOPENS=361"],
    "doacross": ["-fopenmp"],
    "flags": ["-DHASTY=1"],
    "gives-up": ["-DROUNDS=3000"],
    "last-zero": ["-DSETTERS=3"],
    "long-start": ["-DSTEPS=60000"],
    "mailbox": ["-DLOSES=1"],
    "philosophers": ["-DSEATS=3", "-DCAREFUL=0"],
    "polled-answer": ["-DLOST", "-DLIMIT=1000"],
    "polled-readers": ["-DRIGHT=0"],
    "port": ["-DPORT=18471"],
    "readers": ["-DREADERS=3"],
    "rounds": ["-DFAILS=1"],
    "task-numbers": ["-fopenmp"],
    "timers": ["-DSAFE=0"],
    "turns": ["-DRIGHT=0"],
}
