/// A measurement that could not be made: the process ends with this message.
public struct BenchFailure: Error, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }
}
