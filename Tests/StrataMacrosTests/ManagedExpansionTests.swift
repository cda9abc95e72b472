import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import StrataMacros

/// What the macros make of sources, and what it says where it can make nothing.
@Suite struct ManagedExpansionTests {
    private func expect(
        _ source: String, becomes expanded: String, _ diagnostics: [DiagnosticSpec] = [],
        at location: Testing.SourceLocation = #_sourceLocation
    ) {
        assertMacroExpansion(
            source, expandedSource: expanded, diagnostics: diagnostics,
            macroSpecs: [
                "Managed": MacroSpec(type: ManagedMacro.self),
                "ManagedObject": MacroSpec(type: ManagedObjectMacro.self),
            ], indentationWidth: .spaces(4),
            failureHandler: { failure in Issue.record("\(failure.message)", sourceLocation: location) })
    }

    @Test func aPropertyGetsAccessorsOverAPlace() {
        expect(
            """
            class Book {
                @Managed public var title: String?
            }
            """,
            becomes: """
                class Book {
                    public var title: String? {
                        get {
                            _optional(Self._managed_title, 0)
                        }
                        set {
                            _setOptional(newValue, Self._managed_title, 0)
                        }
                    }

                    nonisolated private static let _managed_title = ManagedSlots("title")
                }
                """)
    }

    static let forms: [(type: String, getter: String, setter: String)] = [
        ("Int16", "_attribute", "_setAttribute"), ("Foundation.Date", "_attribute", "_setAttribute"),
        ("Optional<UUID>", "_optional", "_setOptional"), ("Data!", "_optional", "_setOptional"),
        ("Set<Book>", "_property", "_setProperty"), ("NSNumber?", "_propertyOrNil", "_setPropertyOrNil"),
        ("Optional<NSObject>", "_propertyOrNil", "_setPropertyOrNil"),
        ("Optional<any Kind>", "_propertyOrNil", "_setPropertyOrNil"),
        ("Author!", "_propertyOrNil", "_setPropertyOrNil"), ("Kind", "_property", "_setProperty"),
    ]

    @Test(arguments: forms.indices)
    func theDeclaredTypeChoosesTheAccessor(index: Int) {
        let form = Self.forms[index]
        // The getters of types that are no attribute's are told them.
        let types = [
            "Set<Book>": "(Set<Book>)", "NSNumber?": "(NSNumber)?", "Optional<NSObject>": "(NSObject)?",
            "Author!": "(Author)?", "Optional<any Kind>": "(any Kind)?", "Kind": "(Kind)",
        ]
        let type = types[form.type].map { ", as: (\($0)).self" } ?? ""
        expect(
            """
            extension Book {
                @Managed var `class`: \(form.type)
            }
            """,
            becomes: """
                extension Book {
                    var `class`: \(form.type) {
                        get {
                            \(form.getter)(Self._managed_class, 0\(type))
                        }
                        set {
                            \(form.setter)(newValue, Self._managed_class, 0)
                        }
                    }

                    nonisolated private static let _managed_class = ManagedSlots("class")
                }
                """)
    }

    static let mistakes: [(declaration: String, expanded: String, message: String, column: Int)] = [
        ("let title: String", "", "a managed property is a 'var', since its object is read and refreshed", 14),
        ("static var title: String", "", "a managed property cannot be 'static'", 14),
        ("lazy var title: String", "", "a managed property cannot be 'lazy'", 14),
        (
            "var title = \"\"", "",
            "a managed property has no initial value: give the attribute a default value in the model", 24
        ),
        (
            "var title: String { \"\" }", "",
            "a managed property has no accessors of its own: '@Managed' makes them", 32
        ),
        ("func title() {}", "", "'@Managed' is for properties; '@ManagedObject' is for their class", 5),
    ]

    @Test(arguments: mistakes.indices)
    func whatCannotBeManagedIsAnErrorAtTheDeclaration(index: Int) {
        let mistake = Self.mistakes[index]
        expect(
            """
            class Book {
                @Managed \(mistake.declaration)
            }
            """,
            becomes: """
                class Book {
                    \(mistake.declaration)
                }
                """, [DiagnosticSpec(message: mistake.message, line: 2, column: mistake.column)])
    }

    @Test func aClassIsManagedAsAWhole() {
        expect(
            """
            @ManagedObject public class Book: NSManagedObject {
                var title: String
                var kind: Kind
                var author: Author?
                var cache = 0
                var shown: String { title }
                @NSManaged var other: String
                static var count: Int
            }
            """,
            becomes: """
                public class Book: NSManagedObject {
                    var title: String {
                        get {
                            _attribute(Self._managed_title, 0)
                        }
                        set {
                            _setAttribute(newValue, Self._managed_title, 0)
                        }
                    }

                    nonisolated private static let _managed_title = ManagedSlots("title")
                    var kind: Kind {
                        get {
                            _property(Self._managed_kind, 0, as: ((Kind)).self)
                        }
                        set {
                            _setProperty(newValue, Self._managed_kind, 0)
                        }
                    }

                    nonisolated private static let _managed_kind = ManagedSlots("kind")
                    var author: Author? {
                        get {
                            _propertyOrNil(Self._managed_author, 0, as: ((Author)?).self)
                        }
                        set {
                            _setPropertyOrNil(newValue, Self._managed_author, 0)
                        }
                    }

                    nonisolated private static let _managed_author = ManagedSlots("author")
                    var cache = 0
                    var shown: String { title }
                    @NSManaged var other: String
                    static var count: Int

                    public override class var propertyNames: [AnyKeyPath: String] {
                        var names = super.propertyNames
                        names[\\Book.`kind`] = "kind"
                        names[\\Book.`author`] = "author"
                        return names
                    }
                }
                """)
    }

    @Test func aTypeThatIsNoManagedClassIsAnError() {
        expect(
            "@ManagedObject struct Book {}", becomes: "struct Book {}",
            [
                DiagnosticSpec(
                    message: "'@ManagedObject' is for a class that inherits NSManagedObject", line: 1, column: 16)
            ])
        expect(
            "@ManagedObject class Book {}", becomes: "class Book {}",
            [DiagnosticSpec(message: "a managed class inherits NSManagedObject", line: 1, column: 22)])
    }
}
