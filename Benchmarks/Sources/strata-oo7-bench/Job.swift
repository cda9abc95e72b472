import BenchSupport
import OO7Load

/// What one child process does: fills a store, runs an operation, or reads all that is stored.
struct Job {
    enum Task {
        case fill
        case operation(OO7Operation)
        case state

        init?(_ name: String) {
            switch name {
            case "fill": self = .fill
            case "state": self = .state
            default:
                guard let operation = OO7Operation(rawValue: name) else { return nil }
                self = .operation(operation)
            }
        }
    }

    private let contestant: Contestant
    private let folder: Folder
    private let size: OO7Size
    private let task: Task
    /// What lines are called.
    private let line: String

    /// - Parameter arguments: contestant, folder, size, and an operation, `fill` or `state`.
    init(_ arguments: [String]) throws {
        guard arguments.count == 4, let contestant = Contestant(rawValue: arguments[0]),
            let size = OO7Size(rawValue: arguments[2]), let task = Task(arguments[3])
        else { throw BenchFailure("a job takes contestant, folder, size and operation") }
        self.contestant = contestant
        folder = Folder(arguments[1])
        self.size = size
        self.task = task
        line = "\(size.rawValue)-\(arguments[3])"
    }

    func run() throws {
        let emitter = Emitter(peer: contestant.rawValue)
        let design = OO7Design(size)
        if case .fill = task {
            let store = try contestant.open(in: folder, toFill: true)
            try store.fill(design)
            return try store.close()
        }
        let store = try contestant.open(in: folder)
        let runner = OO7Runner(store, design)
        if case .operation(let operation) = task {
            let result = try runner.run(operation)
            emitter.emit(line, "cold_ms", result.coldMilliseconds, "ms")
            emitter.emit(line, "hot_ms", result.hotMilliseconds, "ms")
            emitter.emit(line, "check", exactly: result.digest, "digest")
        } else {
            emitter.emit(line, "check", exactly: try runner.state(), "digest")
        }
        try store.close()
    }
}
