/*
 * Who may write the log of a bucket: the protocol of docs/shipping.md ("Taking over"), for spin.
 *
 * Shippers share one bucket. A shipper takes an epoch in the head, finds the end of the epoch that counts, puts a fence
 * under the name that the owner of that epoch would write next, and says in the head where its own epoch begins. Only
 * then does it write pieces, each if its name is absent, and repeats one until it knows what has become of it.
 *
 * Whatever a shipper sends may be carried out at once, later, or never, and its answer may be lost; it may stop at any
 * moment for any time, and for ever. Pieces of epochs that have ended may be collected. Nobody has a clock.
 *
 *   spin -a docs/models/fencing.pml && cc -O2 -DSAFETY -DBFS -o pan pan.c && ./pan -E
 *
 * must end with "errors: 0". With one of these behind "spin" it must not, or the model says nothing:
 *
 *   -DCOLLECT_FENCES   fences are collected, too
 *   -DNO_FENCE         the new owner goes on without a fence
 *   -DEARLY            the new owner writes before the head says where its epoch begins
 *   -DFORGET           after a lost answer the shipper cuts the next piece anew
 */

#ifndef SHIPPERS
#define SHIPPERS 2          /* processes, each of which takes an epoch once */
#endif
#define EPOCHS (SHIPPERS + 1)
#ifndef PIECES
#define PIECES 2            /* places in the log: 0 .. PIECES - 1; a fence may lie at PIECES */
#endif
#define NAMES ((PIECES + 1) * EPOCHS)
#define NONE 15
#define ABSENT 0
#define FENCE 100

/* Objects: what lies under the name of epoch e and place i. A piece has the number of its writer, 1 and up; with
   FORGET, a piece that is cut anew is two places long and has the number plus 50. */
byte object[NAMES];
#define NAME(e, i) ((e) * (PIECES + 1) + (i))

/* The head: its version, the newest epoch, and where each begins, NONE while that is not said. */
byte version = 0;
byte newest = 0;
byte start[EPOCHS];

/* What shippers have told their clients is in the bucket: by name. */
bool acknowledged[NAMES];

/* Writes on their way: those that were sent and whose sender has given up waiting, to be carried out later or never. */
byte lateName[SHIPPERS];
byte lateWhat[SHIPPERS];

inline create(name, what, isDone) {
    if
    :: object[name] == ABSENT -> object[name] = what; isDone = true
    :: else -> isDone = false
    fi
}

proctype Shipper(byte me) {
    byte mine, before, seen, place, first, name, what, found;
    bool isDone, isFenced;

    /* Read the head and take an epoch. */
take:
    atomic { seen = version; mine = newest + 1 }
    atomic {
        if
        :: version == seen -> newest = mine; version++
        :: else -> goto take
        fi
    }
    /* Find the end of the epoch that counts: the newest one that has begun. The head was ours when we read this. */
    atomic {
        seen = version;
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
            create(NAME(before, place), FENCE + me, isDone);
            if :: isDone -> skip :: else -> goto walk fi
        }
    fi;
#endif
    first = place;
#ifdef EARLY
    goto ship;
begin:
#endif
    /* Say where the epoch begins. */
    atomic {
        if
        :: version == seen -> start[mine] = first; version++
        :: else -> goto stop
        fi
    }

ship:
    do
    :: place < PIECES ->
        name = NAME(mine, place);
        what = me + 1;
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
                :: what >= 50 -> acknowledged[name + 1] = true
                :: else
                fi
           };
           if
           :: what >= 50 -> place = place + 2
           :: else -> place++
           fi
        :: atomic {
                /* Carried out, and no answer comes. */
                true;
                create(name, what, isDone)
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
    :: else -> break
    od;
#ifdef EARLY
    goto begin;
#endif
stop:
    skip
}

/* The network, which carries out what was given up long ago. */
proctype Network() {
    byte which;
    bool isDone;
    do
    :: atomic {
            select(which : 0 .. SHIPPERS - 1);
            lateWhat[which] != 0 ->
            create(lateName[which], lateWhat[which], isDone);
            lateWhat[which] = 0
       }
    od
}

/* Removes pieces of epochs that have ended, as if their segments had been replaced. */
proctype Collector() {
    byte e, i;
    do
    :: atomic {
            select(e : 0 .. EPOCHS - 2);
            select(i : 0 .. PIECES);
            start[e + 1] != NONE && i >= start[e] && object[NAME(e, i)] != ABSENT ->
#ifdef COLLECT_FENCES
            object[NAME(e, i)] = ABSENT
#else
            if
            :: object[NAME(e, i)] < FENCE -> object[NAME(e, i)] = ABSENT
            :: else
            fi
#endif
       }
    od
}

/* What was acknowledged is in the log that readers go by: they leave an epoch where the next one begins. */
#define LOST(e, i, n) (acknowledged[NAME(e, i)] && start[n] != NONE && (n) > (e) && (i) >= start[n])

proctype Watch() {
    byte e, i, n;
    atomic {
        select(e : 0 .. EPOCHS - 1);
        select(i : 0 .. PIECES - 1);
        select(n : 0 .. EPOCHS - 1);
        LOST(e, i, n) -> assert(false)
    }
}

init {
    byte i;
    atomic {
        for (i : 0 .. EPOCHS - 1) { start[i] = NONE }
        start[0] = 0;
        for (i : 0 .. SHIPPERS - 1) { run Shipper(i) }
        run Network();
        run Collector();
        run Watch()
    }
}
