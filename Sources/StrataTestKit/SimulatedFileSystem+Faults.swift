internal import Synchronization
public import SystemPackage

extension SimulatedFileSystem {
    /// The calls of the protocol, as faults count them.
    public enum Call: Int, CaseIterable, Sendable {
        case open, openDirectory, createDirectory, list, rename, exchange, unlink, removeDirectory, syncDirectory,
            attributes, resolve
        case read, write, syncData, sync, truncate, preallocate, byteCount, map, lock, close
    }

    /// Something that goes wrong at a certain call.
    public struct Fault: Sendable, Equatable {
        /// What the call does instead of its work.
        public enum Effect: Sendable, Equatable {
            /// Throws; apart from flushes (see ``FlushLoss``) nothing else happens.
            case fail(Errno)
            /// A read or write handles at most so many bytes and reports that; other calls are not affected.
            case short(maximumByteCount: Int)
        }

        /// How often a fault strikes.
        public enum Repetition: Sendable, Equatable {
            /// At the counted call only.
            case once
            /// At the counted call and all that match after it.
            case always
        }

        /// What becomes of unflushed changes when a flush fails.
        ///
        /// Linux marks pages clean although they could not be written: they are read from the cache, no later flush
        /// writes them, and a crash loses them, while later flushes of other changes report success truthfully.
        public enum FlushLoss: Sendable, Equatable {
            /// None of them will ever be durable.
            case everything
            /// Those that the seed chooses had been written before the error.
            case some(seed: UInt64)
            /// They stay dirty, and a later flush that succeeds makes them durable.
            case nothing
        }

        /// Which of the matching calls strikes, counted from the injection on; 1 is the next.
        public var callNumber: Int
        /// Only calls of this kind match; nil: all.
        public var call: Call?
        /// Only calls on paths that end so match (a rename by its source); nil: all.
        public var pathSuffix: String?
        /// What happens to the call.
        public var effect: Effect
        /// Whether later calls are struck, too.
        public var repetition: Repetition
        /// What a flush that is struck loses.
        public var flushLoss: FlushLoss

        /// A fault to be given to ``SimulatedFileSystem/inject(_:)``.
        public init(
            _ effect: Effect, atCall callNumber: Int = 1, of call: Call? = nil, pathSuffix: String? = nil,
            repetition: Repetition = .once, flushLoss: FlushLoss = .everything
        ) {
            precondition(callNumber >= 1, "calls are counted from 1, not \(callNumber)")
            self.callNumber = callNumber
            self.call = call
            self.pathSuffix = pathSuffix
            self.effect = effect
            self.repetition = repetition
            self.flushLoss = flushLoss
        }
    }

    struct ArmedFault: Sendable {
        var fault: Fault
        var remainingCalls: Int
    }

    /// Arms a fault. Several may be armed; when more than one strikes at a call, the first one injected counts.
    public func inject(_ fault: Fault) {
        state.withLock { $0.faults.append(ArmedFault(fault: fault, remainingCalls: fault.callNumber)) }
    }

    /// Disarms all faults.
    public func removeFaults() {
        state.withLock { $0.faults.removeAll() }
    }

    /// How many times a fault has struck.
    public var firedFaultCount: Int {
        state.withLock { $0.firedFaultCount }
    }

    /// How many calls were made so far, of one kind or (nil) of all.
    public func callCount(of call: Call? = nil) -> Int {
        state.withLock { state in
            call.map { state.callCounts[$0.rawValue] } ?? state.callCounts.reduce(0, +)
        }
    }
}

extension SimulatedFileSystem.State {
    /// Advances the counters of the faults that a call matches.
    mutating func strike(_ call: SimulatedFileSystem.Call, _ path: String) -> SimulatedFileSystem.Fault? {
        guard !faults.isEmpty else { return nil }
        var struck: SimulatedFileSystem.Fault?
        for index in faults.indices {
            let fault = faults[index].fault
            guard fault.call == nil || fault.call == call else { continue }
            if let suffix = fault.pathSuffix, !path.hasSuffix(suffix) { continue }
            faults[index].remainingCalls -= 1
            let remaining = faults[index].remainingCalls
            if remaining == 0 || (remaining < 0 && fault.repetition == .always) {
                struck = struck ?? fault
            }
        }
        if struck != nil { firedFaultCount += 1 }
        return struck
    }
}
