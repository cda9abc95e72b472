public import Foundation

// Makes objects of classes that are only known when the program runs, by initialisers that are not required.
//
// Swift calls only required initialisers on metatypes; every subclass with a designated initialiser of its own would
// have to declare a required one, which Core Data's clients do not. A convenience initialiser may delegate to the
// designated one of whatever class it is called for, but can be named for a known class only.
//
// Here such an initialiser and a class method, which may be called on any metatype, are one function: one defines the
// symbol, the other is declared to be it. For the initialisers of the protocol it is the method that defines it: within
// an initialiser `Self` is the class that the caller names, within a method `self` is the class that it passes.
//
// What this assumes: the entry point of a convenience initialiser, and that of a protocol's extension, takes and
// returns what a class method with the same parameters does, all owned, with the class in the register of `self`. So it
// has been since Swift 5, when the second entry point of convenience initialisers went.
// How it is checked: the program does not link without the symbol; debug builds make an object when the first
// coordinator is made; `DynamicInitializationTests` counts references and calls the initialisers of inheriting,
// overriding and foreign classes, in debug and release builds.
// When a class does not have the designated initialiser, the compiler's own stub stops the program and names both.

extension NSManagedObject {
    /// Not API: ``made(_:insertInto:)`` by another name.
    @_silgen_name("strata_make_managed_object")
    public convenience init(_made entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        self.init(entity: entity, insertInto: context)
    }

    /// Makes an object of this class by its `init(entity:insertInto:)`.
    @_silgen_name("strata_make_managed_object")
    static func made(
        _ entity: __owned NSEntityDescription, insertInto context: __owned NSManagedObjectContext?
    ) -> Self
}

extension ManagedObjectFactory where Self: NSManagedObject {
    /// Creates an object of the entity that the class stands for in the context's model, and inserts it.
    ///
    /// Thread rule: on the context's queue.
    /// - Precondition: exactly one entity of the model has this class.
    @_silgen_name("strata_init_in_context")
    public init(context: NSManagedObjectContext)

    /// Creates an object of an entity and inserts it into a context, if one is given.
    ///
    /// Thread rule: on the context's queue.
    /// - Precondition: the entity is in a model and not abstract.
    @_silgen_name("strata_init_of_entity")
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?)

    /// Not API: `init(context:)` by another name.
    @_silgen_name("strata_init_in_context")
    public static func _made(context: __owned NSManagedObjectContext) -> Self { self.made(in: context) }

    /// Not API: `init(entity:insertInto:)` by another name.
    @_silgen_name("strata_init_of_entity")
    public static func _made(
        _ entity: __owned NSEntityDescription, insertInto context: __owned NSManagedObjectContext?
    ) -> Self {
        self.made(entity, insertInto: context)
    }
}

extension NSPersistentStore {
    /// Not API: ``made(_:configuration:url:options:)`` by another name.
    @_silgen_name("strata_make_persistent_store")
    public convenience init(
        _made root: NSPersistentStoreCoordinator, configuration: String?, url: URL, options: [AnyHashable: Any]?
    ) {
        self.init(persistentStoreCoordinator: root, configurationName: configuration, at: url, options: options)
    }

    /// Makes a store of this class by its `init(persistentStoreCoordinator:configurationName:at:options:)`.
    @_silgen_name("strata_make_persistent_store")
    static func made(
        _ root: __owned NSPersistentStoreCoordinator, configuration: __owned String?, url: __owned URL,
        options: __owned [AnyHashable: Any]?
    ) -> Self
}

/// Whether what this file assumes is so.
enum DynamicInitialization {
    private final class Probe: NSManagedObject {
        var calls: [String] = []

        override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: entity, insertInto: context)
            calls.append("designated")
        }
    }

    /// What is wrong; nil with a toolchain that Strata can be used with.
    static func check() -> String? {
        let type: NSManagedObject.Type = Probe.self
        let entity = ModelShapes.nameless.entity
        weak var made: NSManagedObject?
        for _ in 0..<3 {
            let object = type.made(entity, insertInto: nil)
            made = object
            guard let probe = object as? Probe, probe.calls == ["designated"], probe.entity === entity else {
                return "DynamicInitialization: a class method does not do what the initialiser of its symbol does"
            }
        }
        return made == nil ? nil : "DynamicInitialization: an object that was made by its metatype is never freed"
    }

    /// In debug builds, stops the program if the assumption fails. The work is done once.
    static func require() {
        #if DEBUG
        _ = isRight
        #endif
    }

    private static let isRight: Bool = {
        if let failure = check() { preconditionFailure("Strata does not know this Swift compiler: \(failure)") }
        return true
    }()
}
