import Foundation
import Testing

@testable import StrataSourceTools

/// Protocols of Objective-C's whose requirements need not be met.
@Suite struct OptionalRequirementTests {
    private static let player = """
        import CoreData

        @objc public protocol PlayerDelegate {
            func mustHave()
            @objc optional func didMove(_ player: Player)
            @objc(player:stoppedAt:) optional func player(_ player: Player, stoppedAt second: Int) throws
            @MainActor
            @objc
            optional func artist(of player: Player) -> String?
            @objc optional func shouldPlay(_ player: Player) -> Bool
            @objc optional var title: String { get }
        }

        public class Player: NSObject {
            public weak var delegate: PlayerDelegate?
            var completion: ((Int) -> Void)?

            func play() throws {
                delegate?.didMove?(self)
                try delegate?.player?(self, stoppedAt: 3)
                _ = delegate?.artist?(of: self) ?? "nobody"
                completion?(3)
                let done = { self.delegate?.didMove?(self) }
                done()
                // delegate?.didMove?(self)
                print("delegate?.didMove?(self)")
                controller.delegate?.controllerDidChangeContent?(controller)
                if delegate?.shouldPlay?(self) ?? true { return }
                print(delegate?.shouldPlay?(self) ?? false)
                if delegate?.didMove?(self) != nil { return }
                if delegate?.didMove != nil { return }
                delegate!.didMove!(self)
                delegate?.player?(self)
                _ = delegate?.title
            }
        }

        """

    @Test func theyGetDefaultsAndTheirCallsLoseTheMark() throws {
        let fixture = try SourceFixture([("Player.swift", Self.player)])
        #expect(
            try fixture.ported("Player.swift") == """
                import CoreData

                public protocol PlayerDelegate: AnyObject {
                    func mustHave()
                    func didMove(_ player: Player)
                    func player(_ player: Player, stoppedAt second: Int) throws
                    @MainActor
                    func artist(of player: Player) -> String?
                    optional func shouldPlay(_ player: Player) -> Bool
                    optional var title: String { get }
                }

                // What conforming classes need not have.
                public extension PlayerDelegate {
                    func didMove(_ player: Player) {}
                    func player(_ player: Player, stoppedAt second: Int) throws {}
                    @MainActor
                    func artist(of player: Player) -> String? { nil }
                }

                public class Player: NSObject {
                    public weak var delegate: PlayerDelegate?
                    var completion: ((Int) -> Void)?

                    func play() throws {
                        delegate?.didMove(self)
                        try delegate?.player(self, stoppedAt: 3)
                        _ = delegate?.artist(of: self) ?? "nobody"
                        completion?(3)
                        let done = { self.delegate?.didMove(self) }
                        done()
                        // delegate?.didMove?(self)
                        print("delegate?.didMove?(self)")
                        controller.delegate?.controllerDidChangeContent(controller)
                        if delegate?.shouldPlay?(self) ?? true { return }
                        print(delegate?.shouldPlay?(self) ?? false)
                        if delegate?.didMove?(self) != nil { return }
                        if delegate?.didMove != nil { return }
                        delegate!.didMove!(self)
                        delegate?.player?(self)
                        _ = delegate?.title
                    }
                }

                """)
    }

    @Test func whatOnlyAPersonCanDecideIsListed() throws {
        let fixture = try SourceFixture([("Player.swift", Self.player)])
        let notes = try fixture.report().remaining
        #expect(notes.map(\.line) == [10, 11, 28, 29, 30, 31, 32, 33, 34])
        let expected = [
            "give 'shouldPlay(_:)' a default", "give 'title' a default", "a call of 'shouldPlay(_:)'",
            "a call of 'shouldPlay(_:)'",
            "whether 'didMove(_:)' was called", "whether anyone has 'didMove(_:)'", "a call of 'didMove(_:)'",
            "a call of 'player(_:stoppedAt:)'", "'title' is optional",
        ]
        for (note, text) in zip(notes, expected) { #expect(note.message.contains(text)) }
    }

    @Test func aSecondTimeNothingIsRewritten() throws {
        let fixture = try SourceFixture([("Player.swift", Self.player)])
        let first = try fixture.report()
        for (path, text) in first.rewritten { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }
        let second = try fixture.report()
        #expect(second.rewritten.isEmpty)
        #expect(second.remaining.contains { $0.message.contains("give 'shouldPlay(_:)' a default") })
    }

    @Test(arguments: [
        ("P", "P: AnyObject"), ("P: Q", "P: AnyObject, Q"), ("P: NSObjectProtocol", "P: NSObjectProtocol"),
        ("P : AnyObject", "P : AnyObject"), ("P: class", "P: class"),
    ])
    func aProtocolOfObjectiveCsStaysOneOfClasses(_ head: String, _ expected: String) throws {
        let fixture = try SourceFixture([("P.swift", "import CoreData\nprotocol Q {}\n@objc protocol \(head) {}\n")])
        #expect(try fixture.ported("P.swift") == "import CoreData\nprotocol Q {}\nprotocol \(expected) {}\n")
    }

    /// The default would be called, and the method of the subclass would not, as it is by Objective-C.
    @Test func aMethodThatNobodyWouldCallIsListed() throws {
        let fixture = try SourceFixture([
            ("P.swift", "import CoreData\n@objc protocol P { @objc optional func f(); @objc optional func g() }\n"),
            ("Base.swift", "import CoreData\nclass Base: NSObject {}\nextension Base: P { func g() {} }\n"),
            ("Sub.swift", "import CoreData\nclass Sub: Base {\n    func f() {}\n    override func g() {}\n}\n"),
        ])
        let notes = try fixture.report().remaining
        #expect(notes.map(\.line) == [3] && notes.map(\.path) == [fixture.paths[2]])
        #expect(notes.first?.message.contains("declare it in Base") == true)
    }

    @Test(arguments: [
        ("var done: ((Int) -> Void)?", true), ("var done: Int?", false), ("static let done = unknown()", false),
    ])
    func aCallThatMayBeOfAPropertyIsListed(_ property: String, _ stays: Bool) throws {
        let text = """
            import CoreData
            @objc protocol P { @objc optional func done(_ x: Int) }
            class Task { \(property) }
            func f() { unknown.done?(1) }

            """
        let fixture = try SourceFixture([("P.swift", text)])
        #expect(try fixture.ported("P.swift")?.contains("unknown.done?(1)") == stays)
        #expect(try fixture.report().remaining.map(\.line) == (stays ? [4] : []))
    }

    @Test func callsInOtherFilesAreRewritten() throws {
        let fixture = try SourceFixture([
            ("P.swift", "import CoreData\n@objc protocol P { @objc optional func f(_ x: Int, then: () -> Void) }\n"),
            ("Use.swift", "import CoreData\nfunc use(_ p: P?) { p?.f?(1) {} }\n"),
        ])
        #expect(try fixture.ported("Use.swift") == "import CoreData\nfunc use(_ p: P?) { p?.f(1) {} }\n")
    }

    @Test func aTestHasTheDefaultThatAllItsCallsHave() throws {
        let text = """
            import CoreData
            @objc protocol P {
                @objc optional func may(_ x: Int) -> Bool
                @objc optional func must() -> Bool
                @objc optional func never() -> Bool
            }
            func use(_ p: P?, _ q: P) -> Bool {
                guard p?.may?(1) ?? true, q.may?(2) ?? true else { return p?.must?() ?? false }
                return p?.must?() == true
            }

            """
        let fixture = try SourceFixture([("P.swift", text)])
        #expect(
            try fixture.ported("P.swift") == """
                import CoreData
                protocol P: AnyObject {
                    func may(_ x: Int) -> Bool
                    optional func must() -> Bool
                    optional func never() -> Bool
                }

                // What conforming classes need not have.
                extension P {
                    func may(_ x: Int) -> Bool { true }
                }
                func use(_ p: P?, _ q: P) -> Bool {
                    guard p?.may(1) ?? true, q.may(2) else { return p?.must?() ?? false }
                    return p?.must?() == true
                }

                """)
        #expect(try fixture.report().remaining.map(\.line) == [4, 5, 8, 9])
    }

    @Test func aCallThatMayBeOfTwoProtocolsIsListedUnlessTheyAgree() throws {
        let text = """
            import CoreData
            @objc protocol P { @objc optional func f() -> String?; @objc optional func g() }
            @objc protocol Q { @objc optional func f() -> Int; @objc optional func g() }
            func use(_ p: P) { _ = p.f?(); p.g?() }

            """
        let fixture = try SourceFixture([("P.swift", text)])
        #expect(try fixture.ported("P.swift")?.contains("{ _ = p.f?(); p.g() }") == true)
        #expect(try fixture.report().remaining.map(\.line) == [3, 4])
    }

    @Test func aCallIsOfTheRequirementWithItsLabels() throws {
        let text = """
            import CoreData
            @objc protocol P { @objc optional func f(a: Int); @objc optional func f(b: Int) -> Int }
            func use(_ p: P) { p.f?(b: 1); p.f?(a: 1) }

            """
        let fixture = try SourceFixture([("P.swift", text)])
        #expect(try fixture.ported("P.swift")?.contains("{ p.f?(b: 1); p.f(a: 1) }") == true)
    }

    @Test func aPropertyOfTheSameNameIsNotListed() throws {
        let fixture = try SourceFixture([
            (
                "File.swift",
                """
                import CoreData
                @objc protocol StackDelegate: AnyObject { @objc optional func stack(_ stack: Stack) }
                class Stack: NSObject {}
                class Importer: NSObject {
                    private let stack: Stack
                    init(_ stack: Stack) { self.stack = stack }
                    func load() {
                        stack.missing.perform { _ = self.stack.missing }
                    }
                }

                """
            )
        ])
        #expect(try fixture.report().remaining.isEmpty)
    }
}
