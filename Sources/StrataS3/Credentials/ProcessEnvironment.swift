import Foundation

/// The process's environment.
public enum ProcessEnvironment {
    /// All of its variables at this moment.
    public static var variables: [String: String] { ProcessInfo.processInfo.environment }
}
