import Foundation

/// Goes through a benchmark's command line: names that begin with `--`, each with a value.
public struct OptionReader {
    /// The option that ``next()`` came to, with its dashes.
    public private(set) var name = ""
    /// Its value.
    public private(set) var value = ""
    private var rest: ArraySlice<String>
    private let usage: String

    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - usage: what `--help` prints, and every complaint.
    public init(_ arguments: [String], usage: String) {
        rest = arguments[...]
        self.usage = usage
    }

    /// Goes on to the next option; false when there is none left. `--help` prints the usage and ends the program.
    public mutating func next() throws -> Bool {
        guard let name = rest.popFirst() else { return false }
        if name == "--help" || name == "-h" {
            print(usage)
            exit(0)
        }
        guard let value = rest.popFirst() else { throw complaint("\(name) needs a value") }
        (self.name, self.value) = (name, value)
        return true
    }

    /// The value as a whole number from 1 on.
    public func count() throws -> Int { try count(value) }

    /// The value as a list of such numbers.
    public func counts() throws -> [Int] { try list.map(count) }

    /// The value as a time in seconds.
    public func seconds() throws -> Double {
        guard let number = Double(value), number > 0 else { throw complaint("\(name) takes seconds, not \(value)") }
        return number
    }

    /// Those of some things that the value lists, in their own order.
    ///
    /// - Parameter isNamed: whether a thing is meant by a name of the list.
    /// - Throws: when a name means nothing.
    public func choice<Thing>(of all: [Thing], _ isNamed: (Thing, String) -> Bool) throws -> [Thing] {
        let names = list
        for name in names where !all.contains(where: { isNamed($0, name) }) {
            throw complaint("\(self.name) does not know \(name)")
        }
        guard !names.isEmpty else { throw complaint("\(name) takes a list") }
        return all.filter { thing in names.contains { isNamed(thing, $0) } }
    }

    /// Those of some cases that the value lists, in their own order.
    public func choice<Case: RawRepresentable>(of all: [Case]) throws -> [Case] where Case.RawValue == String {
        try choice(of: all) { $0.rawValue == $1 }
    }

    /// For an option that the program does not have.
    public func unknown() -> BenchFailure { complaint("unknown option \(name)") }

    private var list: [String] { value.split(separator: ",").map(String.init) }

    private func count(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else {
            throw complaint("\(name) takes a number from 1 on, not \(text)")
        }
        return number
    }

    private func complaint(_ text: String) -> BenchFailure { BenchFailure("\(text)\n\(usage)") }
}
