import StrataObjectStore
import Synchronization

/// Keeps credentials until shortly before they end, and has them fetched by one caller at a time.
final class CredentialCache: Sendable {
    private struct State {
        var current: S3Credentials?
        /// Keys that a server has refused: they do not count as current when a provider gives them again.
        var refused: S3Credentials?
        var isFetching = false
        var waiting: [UInt64: CheckedContinuation<Result<S3Credentials, ObjectStoreError>, Never>] = [:]
        var nextNumber: UInt64 = 0
        /// No fetch before this moment while there is something usable: the last one failed.
        var notBefore = -Double.infinity
    }

    /// How long before they end credentials are fetched anew, and not used any more if that fails.
    static let early = 300.0
    static let late = 30.0

    private let provider: any S3CredentialProvider
    private let connections: S3Connections
    private let now: @Sendable () -> Double
    private let state = Mutex(State())

    init(
        provider: any S3CredentialProvider, connections: S3Connections, now: @escaping @Sendable () -> Double
    ) {
        self.provider = provider
        self.connections = connections
        self.now = now
    }

    func credentials() async throws(ObjectStoreError) -> S3Credentials {
        let now = self.now()
        let usable = state.withLock { state -> S3Credentials? in
            guard let current = Self.usable(state, now: now) else { return nil }
            // With some left to go, a new fetch goes on beside the requests.
            if (current.expiration ?? .infinity) <= now + Self.early, !state.isFetching, now >= state.notBefore {
                state.isFetching = true
                fetch()
            }
            return current
        }
        if let usable { return usable }
        return try await waitForFetch()
    }

    private static func usable(_ state: State, now: Double) -> S3Credentials? {
        state.current.flatMap { ($0.expiration ?? .infinity) > now + late ? $0 : nil }
    }

    /// Says that a server has refused credentials. Returns whether it is worth to ask for others.
    ///
    /// - Parameter isCertain: Whether it was them that were refused, and not perhaps what they were to be used for.
    func refuse(_ credentials: S3Credentials, isCertain: Bool) -> Bool {
        state.withLock { state in
            let isNew = state.refused != credentials
            if isNew || isCertain, state.current == credentials { state.current = nil }
            state.refused = credentials
            // Refused before, and given again by the provider: there are no others.
            return isNew
        }
    }

    private func waitForFetch() async throws(ObjectStoreError) -> S3Credentials {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<S3Credentials, ObjectStoreError>, Never>) in
                let starts = state.withLock { state -> Bool in
                    if Task.isCancelled {
                        continuation.resume(returning: .failure(.cancelled))
                        return false
                    }
                    // Fetched since.
                    if let current = Self.usable(state, now: now()) {
                        continuation.resume(returning: .success(current))
                        return false
                    }
                    state.waiting[number] = continuation
                    guard !state.isFetching else { return false }
                    state.isFetching = true
                    return true
                }
                if starts { fetch() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .failure(.cancelled))
        }
        return try result.get()
    }

    /// Fetches in a task of its own: whoever began it may be cancelled, and others wait for it.
    private func fetch() {
        Task {
            let result: Result<S3Credentials, ObjectStoreError>
            do throws(ObjectStoreError) {
                result = .success(try await fetched())
            } catch {
                result = .failure(error)
            }
            let waiting = state.withLock { state in
                state.isFetching = false
                switch result {
                case .success(let credentials): state.current = credentials
                case .failure: state.notBefore = now() + 10
                }
                defer { state.waiting = [:] }
                return state.waiting.values
            }
            for continuation in waiting { continuation.resume(returning: result) }
        }
    }

    private func fetched() async throws(ObjectStoreError) -> S3Credentials {
        guard let found = try await provider.credentials(over: connections) else {
            throw .credentials(
                message: "none are configured (environment, web identity, shared files, container, instance)")
        }
        guard found.isWellFormed else {
            throw .credentials(message: "they are empty, or have characters that no header takes")
        }
        guard (found.expiration ?? .infinity) > now() else {
            throw .credentials(message: "those that were given have expired")
        }
        return found
    }
}
