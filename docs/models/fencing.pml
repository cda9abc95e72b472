/*
 * Who may write the log of a bucket: the protocol of docs/shipping.md ("Taking over"), for spin.
 *
 * Shippers share one bucket. A shipper takes an epoch in the head, finds the end of the epoch that counts, puts a fence
 * under the name that the owner of that epoch would write next, and says in the head where its own epoch begins. Only
 * then does it write pieces, each if its name is absent, and repeats one until it knows what has become of it.
 *
 * A shipper that ends with nothing on its way leaves word beside the store, in the slot: its epoch, its name, and
 * where the log ends. A later one of the same machine goes on in that epoch, if the head names nobody else and the log
 * still ends there: it puts its own name in the place of the other's in the head. Two may be started at once, somebody
 * else may take over between, and the slot may be put back to what it said before.
 *
 * Whatever a shipper sends may be carried out at once, later, or never, and its answer may be lost; it may stop at any
 * moment for any time, and for ever. Pieces of epochs that have ended may be collected. Nobody has a clock.
 *
 *   spin -a docs/models/fencing.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E -m500000
 *
 * must end with "errors: 0". With one of these behind "spin" it must not, or the model says nothing:
 *
 *   -DCOLLECT_FENCES   fences are collected, too
 *   -DNO_FENCE         the new owner goes on without a fence
 *   -DEARLY            the new owner writes before the head says where its epoch begins
 *   -DFORGET           after a lost answer the shipper cuts the next piece anew
 *   -DNO_CLAIM         who goes on in an epoch does not put its name into the head
 *   -DANY_OWNER        who goes on in an epoch does not compare the name in the head with that in the slot
 */

#ifndef SHIPPERS
#define SHIPPERS 3          /* processes, each of which takes an epoch once, or goes on in one */
#endif
#ifndef SAME
#define SAME 2              /* so many of them, the first, are of one machine, and share the slot */
#endif
#define EPOCHS (SHIPPERS + 1)
#define PIECES 2            /* places in the log: 0 .. PIECES - 1; a fence may lie at PIECES */
#define NAMES ((PIECES + 1) * EPOCHS)
#define NONE 15
#define ABSENT 0
#define FENCE 100

/* Objects: what lies under the name of epoch e and place i. A piece has the number of its writer, 1 and up; with
   50 more, it is two places long: cut anew, or by a shipper that found more to ship. */
byte object[NAMES];
#define NAME(e, i) ((e) * (PIECES + 1) + (i))

/* The head: its version, the newest epoch, where each begins, NONE while that is not said, and whose each is. */
byte version = 0;
byte newest = 0;
byte start[EPOCHS];
byte owner[EPOCHS];

/* The slot of the first machine: what the last shipper that has ended there has said, at first one from before. */
byte slotEpoch = 0;
byte slotOwner = 0;
byte slotPlace = 0;

/* What shippers have told their clients is in the bucket: by name. */
bool acknowledged[NAMES];

/* Writes on their way: those that were sent and whose sender has given up waiting, to be carried out later or never. */
byte lateName[SHIPPERS];
byte lateWhat[SHIPPERS];

/* What was acknowledged is in the log that readers go by: they leave an epoch where the next one begins. */
inline check() {
    for (e : 0 .. EPOCHS - 1) {
        for (n : e + 1 .. EPOCHS - 1) {
            for (i : 0 .. PIECES - 1) {
                assert(!(acknowledged[NAME(e, i)] && start[n] != NONE && i >= start[n]))
            }
        }
    }
    e = 0; n = 0; i = 0
}

inline create(name, what, isDone) {
    if
    :: object[name] == ABSENT -> object[name] = what; isDone = true
    :: else -> isDone = false
    fi
}

proctype Shipper(byte me) {
    byte mine, before, seen, place, first, name, what, found;
    bool isDone, isResumed;
    byte e, n, i;

    /* Go on in the epoch of a shipper that has ended, or take one. */
    if
    :: me < SAME ->
        atomic { mine = slotEpoch; before = slotOwner; first = slotPlace }
        atomic {
            seen = version;
            if
            :: newest != mine -> goto take
#ifndef ANY_OWNER
            :: newest == mine && owner[mine] != before -> goto take
#endif
            :: else
            fi;
            place = start[mine]
        }
follow:
        atomic {
            found = object[NAME(mine, place)];
            if
            :: found == ABSENT && place == first -> skip
            :: found >= FENCE || (found == ABSENT && place != first) -> goto take
            :: found >= 50 && found < FENCE -> place = place + 2; goto follow
            :: else -> place++; goto follow
            fi
        }
#ifndef NO_CLAIM
        atomic {
            if
            :: version == seen -> owner[mine] = me + 1; version++
            :: else -> goto take
            fi
        }
#endif
        isResumed = true; before = 0; seen = 0; first = 0; found = 0;
        goto ship
    :: else
    fi;

    /* Read the head and take an epoch. */
take:
    atomic { seen = version; mine = newest + 1; before = 0; first = 0; place = 0; found = 0 }
    atomic {
        if
        :: version == seen -> newest = mine; owner[mine] = me + 1; version++
        :: else -> goto take
        fi
    }
    /* Find the end of the epoch that counts: the newest one that has begun. The head was ours when we read this. */
    atomic {
        if :: newest != mine -> goto stop :: else fi;
        before = mine - 1;
        do
        :: start[before] == NONE -> before--
        :: else -> break
        od;
        place = start[before]
    }
walk:
    atomic {
        found = object[NAME(before, place)];
        if
        :: found == ABSENT || found >= FENCE -> skip
        :: found >= 50 && found < FENCE -> place = place + 2; goto walk
        :: else -> place++; goto walk
        fi
    }
#ifndef NO_FENCE
    /* A fence of somebody who took an epoch and did not begin it is as good as ours. */
    if
    :: found >= FENCE -> skip
    :: else ->
        atomic {
            create(NAME(before, place), FENCE, isDone);
            if :: isDone -> skip :: else -> goto walk fi
        }
    fi;
#endif
    first = place;
#ifdef EARLY
    goto ship;
begin:
#endif
    /* Say where the epoch begins: tried until the head is another's, or says so. */
    atomic {
        if
        :: newest == mine ->
            start[mine] = first; version++;
            before = 0; seen = 0; first = 0; found = 0; isDone = false;
            check()
        :: else -> goto stop
        fi
    }

ship:
    do
    :: place < PIECES ->
        name = NAME(mine, place);
        if
        :: what = me + 1
        :: isResumed && place + 2 <= PIECES -> what = me + 51
        fi;
again:
        if
        :: atomic {
                /* Carried out, and an answer comes. A piece of ours is taken for ours whenever it was written. */
                true;
                create(name, what, isDone);
                if
                :: isDone || object[name] == what -> skip
                :: else -> goto stop
                fi;
                acknowledged[name] = true;
                if
                :: what >= 50 -> acknowledged[name + 1] = true; place = place + 2
                :: else -> place++
                fi;
                name = 0; what = 0; isDone = false;
                check()
           }
        :: atomic {
                /* Carried out, and no answer comes. */
                true;
                create(name, what, isDone);
                isDone = false
           };
#ifdef FORGET
           if
           :: what < 50 && place + 2 <= PIECES -> what = what + 50
           :: else
           fi;
#endif
           goto again
        :: atomic {
                /* Not carried out now: perhaps later. The sender may have died meanwhile. */
                lateName[me] = name; lateWhat[me] = what
           };
           goto again
        :: goto stop
        fi
#ifndef EARLY
    :: me < SAME ->
        /* The end, with nothing on its way. */
        atomic { slotEpoch = mine; slotOwner = me + 1; slotPlace = place };
        goto stop
#endif
    :: else -> break
    od;
#ifdef EARLY
    if :: start[mine] == NONE -> goto begin :: else fi;
#endif
stop:
    mine = 0; before = 0; seen = 0; place = 0; first = 0; name = 0; what = 0; found = 0;
    isDone = false; isResumed = false
}

/* The network, which carries out what was given up long ago. */
#define DELIVER(n) \
    d_step { \
        lateWhat[n] != 0 -> \
        if \
        :: object[lateName[n]] == ABSENT -> object[lateName[n]] = lateWhat[n] \
        :: else \
        fi; \
        lateName[n] = 0; lateWhat[n] = 0 \
    }

proctype Network() {
    do
    :: DELIVER(0)
    :: DELIVER(1)
#if SHIPPERS > 2
    :: DELIVER(2)
#endif
#if SHIPPERS > 3
    :: DELIVER(3)
#endif
    od
}

/* The first machine's disk is put back to what it was at first. */
proctype PutBack() {
    atomic { slotOwner != 0 -> slotEpoch = 0; slotOwner = 0; slotPlace = 0 }
}

/* Removes pieces of epochs that have ended, as if their segments had been replaced. */
#ifdef COLLECT_FENCES
#define MAY_GO(n) (object[n] != ABSENT)
#else
#define MAY_GO(n) (object[n] != ABSENT && object[n] < FENCE)
#endif
#define COLLECT(e, i) \
    d_step { \
        start[(e) + 1] != NONE && (i) >= start[e] && MAY_GO(NAME(e, i)) -> object[NAME(e, i)] = ABSENT \
    }

proctype Collector() {
    do
    :: COLLECT(0, 0)
    :: COLLECT(0, 1)
    :: COLLECT(0, 2)
    :: COLLECT(1, 0)
    :: COLLECT(1, 1)
    :: COLLECT(1, 2)
#if SHIPPERS > 2
    :: COLLECT(2, 0)
    :: COLLECT(2, 1)
    :: COLLECT(2, 2)
#endif
#if SHIPPERS > 3
    :: COLLECT(3, 0)
    :: COLLECT(3, 1)
    :: COLLECT(3, 2)
#endif
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. EPOCHS - 1) { start[i] = NONE }
        start[0] = 0;
        for (i : 0 .. SHIPPERS - 1) { run Shipper(i) }
        run Network();
        run PutBack();
        run Collector()
    }
}
