import BenchSupport

/// One group measured for one contestant, in a process of its own.
///
/// Its arguments: group, contestant, folder, rows, and for the raw logs the bytes of a one-row record (else 0).
struct Job {
    let group: Group
    let contestant: ContestantName
    let folder: Folder
    let rowCount: Int
    let recordByteCount: Int?
    private let emitter: Emitter

    init(arguments: [String]) throws {
        guard arguments.count == 5, let group = Group(rawValue: arguments[0]),
            let contestant = ContestantName(rawValue: arguments[1]), let rowCount = Int(arguments[3]),
            let recordByteCount = Int(arguments[4])
        else { throw BenchFailure("--job GROUP CONTESTANT FOLDER ROWS RECORD") }
        self.group = group
        self.contestant = contestant
        folder = Folder(arguments[2])
        self.rowCount = rowCount
        self.recordByteCount = recordByteCount > 0 ? recordByteCount : nil
        emitter = Emitter(peer: contestant.rawValue)
    }

    func emit(_ metric: String, _ value: Double, _ unit: String) {
        emitter.emit(group.rawValue, metric, value, unit)
    }

    func emit(_ metric: String, exactly value: UInt64, _ unit: String) {
        emitter.emit(group.rawValue, metric, exactly: value, unit)
    }

    func note(_ text: String) {
        emitter.note("\(group.rawValue): \(text)")
    }

    func open() throws -> any Contestant {
        try contestant.open(in: folder, recordByteCount: recordByteCount)
    }

    func run() throws {
        switch group {
        case .fillbatch: try fillBatch()
        case .fillsync: try fillSync()
        case .overwrite: try overwrite()
        case .readrandom: try readRandom()
        case .readcold: try readCold()
        case .readseq: try readSequentially()
        case .scan: try scan()
        case .index: try readIndexed()
        case .tomany: try askMembers()
        case .batch: try writeBatches()
        case .open: try openAndRead("open_first_read_ms")
        case .openkilled: try fillAndDieOrOpen()
        case .memory: try indexMemory()
        case .deletes: try deleteHalf()
        case .storm: try storm()
        case .objects: try objects()
        }
    }
}
