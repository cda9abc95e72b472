#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// This program once more, in another role, with its standard output in a pipe.
struct ChildProcess {
    let pid: pid_t
    private let output: Int32

    init(_ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Finding(description: "pipe: \(errno)") }
        // A child that keeps another one's pipe open would hide its end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var list: [UnsafeMutablePointer<CChar>?] = (["kill-loop"] + arguments).map { strdup($0) } + [nil]
        defer { for text in list { free(text) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, "/proc/self/exe", &actions, nil, &list, environ)
        close(ends[1])
        guard result == 0 else {
            close(ends[0])
            throw Finding(description: "spawn: \(result)")
        }
        self.pid = pid
        output = ends[0]
    }

    /// The numbers that the process tells until it ends, or until so many milliseconds have passed since the first.
    func numbers(forMilliseconds limit: Int? = nil) -> [UInt64] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        var deadline: Int?
        while true {
            if let deadline {
                let rest = deadline - Children.now()
                var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
                if rest <= 0 || poll(&entry, 1, Int32(rest)) == 0 { break }
            }
            let count = read(output, &chunk, chunk.count)
            if count <= 0 { break }
            bytes += chunk[..<count]
            if let limit, deadline == nil { deadline = Children.now() + limit }
        }
        return Self.numbers(in: bytes)
    }

    private static func numbers(in bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count / 8 * 8, by: 8).map { offset in
            bytes[offset..<offset + 8].enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
        }
    }

    /// What the process has told since it was last asked. Does not wait.
    func drain() -> [UInt64] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, 0) == 1, entry.revents & Int16(POLLIN) != 0 {
            let count = read(output, &chunk, chunk.count)
            if count <= 0 { break }
            bytes += chunk[..<count]
        }
        return Self.numbers(in: bytes)
    }

    /// Whether the process has ended, other than by ``end()``.
    var hasEnded: Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information.si_signo == SIGCHLD
    }

    /// Ends the process as a power switch would, as far as it is concerned.
    func end() {
        kill(pid, SIGKILL)
    }

    /// Waits for the end; true for exit status 0.
    @discardableResult
    func wait() -> Bool {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        close(output)
        return status == 0
    }
}
