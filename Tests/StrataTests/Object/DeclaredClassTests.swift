import CoreData
import Foundation
import Testing

private protocol Doable: NSManagedObject { var label: String? { get } }

private class Chore: NSManagedObject, Doable {
    private static let labelSlot = AttributeSlot<String?>("label")

    var label: String? {
        get { self[Self.labelSlot] }
        set { self[Self.labelSlot] = newValue }
    }
}

private final class Errand: Chore {
    private static let placeSlot = AttributeSlot<String?>("place")

    var place: String? {
        get { self[Self.placeSlot] }
        set { self[Self.placeSlot] = newValue }
    }
}

/// The model says that its relationships lead to chores.
private final class Notebook: NSManagedObject {
    // By hand, as generated code and the macro have them.
    static let choreSlot = ToOneSlot<Chore>("task")
    static let errandSlot = ToOneSlot<Errand>("task")
    static let objectSlot = ToOneSlot<NSManagedObject>("task")
    static let errandsSlot = ToManySlot<Errand>("tasks")
    static let stepsSlot = ToManySlot<Errand>("steps")
    static let slots = ManagedSlots("task", "tasks", "steps")

    var task: Errand? {
        get { _propertyOrNil(Self.slots, 0, as: Errand?.self) }
        set { _setPropertyOrNil(newValue, Self.slots, 0) }
    }
    var tasks: Set<Errand> {
        get { _property(Self.slots, 1, as: Set<Errand>.self) }
        set { _setProperty(newValue, Self.slots, 1) }
    }
    var steps: [Errand] {
        get { _property(Self.slots, 2, as: [Errand].self) }
        set { _setProperty(newValue, Self.slots, 2) }
    }

    // One accessor each: a position belongs to one declared type.
    static let protocolSlots = ManagedSlots("task", "tasks", "steps")

    var doable: (any Doable)? {
        get { _propertyOrNil(Self.protocolSlots, 0, as: (any Doable)?.self) }
        set { _setPropertyOrNil(newValue, Self.protocolSlots, 0) }
    }
    var doables: [any Doable] { _property(Self.protocolSlots, 2, as: [any Doable].self) }

    static let addingSlots = ManagedSlots("tasks")

    func addToTasks(_ chore: Chore) { _add(chore, Self.addingSlots, 0) }
    var added: Set<Errand> { _property(Self.addingSlots, 0, as: Set<Errand>.self) }
}

private final class Unrelated: NSManagedObject {}

/// An accessor may declare another class of the line than the one that the model names.
@Suite struct DeclaredClassTests {
    static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Chore.self, Errand.self, Notebook.self)
        let chore = GraphModel.entity("Chore", Chore.self)
        let errand = GraphModel.entity("Errand", Errand.self)
        let notebook = GraphModel.entity("Notebook", Notebook.self)
        chore.subentities = [errand]
        errand.properties = [GraphModel.attribute("place", .stringAttributeType)]
        var properties: [(NSPropertyDescription, NSPropertyDescription)] = []
        for (name, toMany, ordered) in [("task", false, false), ("tasks", true, false), ("steps", true, true)] {
            let relationship = GraphModel.relationship(name, to: chore, toMany: toMany, ordered: ordered)
            let inverse = GraphModel.relationship("\(name)Of", to: notebook, toMany: !toMany)
            GraphModel.link(relationship, inverse)
            properties.append((relationship, inverse))
        }
        notebook.properties = properties.map(\.0)
        chore.properties = properties.map(\.1) + [GraphModel.attribute("label", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [chore, errand, notebook]
        return model
    }

    /// The program was stopped, whatever the objects were: two accessors of an app stopped 136 of its tests.
    @Test(arguments: StoreKind.allCases) func aSubclassOfTheDestinationsMayBeDeclared(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let context = store.context()
        let id = try context.performAndWait {
            let notebook = Notebook(context: context)
            #expect(notebook.task == nil && notebook[Notebook.errandSlot] == nil)
            #expect(notebook.tasks.isEmpty && notebook.steps.isEmpty && notebook.doable == nil)
            let errands = ["a", "b"].map { label in
                let errand = Errand(context: context)
                errand.label = label
                errand.place = "to \(label)"
                return errand
            }
            notebook.task = errands[0]
            notebook.tasks = Set(errands)
            notebook.steps = errands
            try context.save()
            return notebook.objectID
        }
        let reader = store.context()
        try reader.performAndWait {
            let notebook = try #require(reader.object(with: id) as? Notebook)
            #expect(notebook.task?.place == "to a" && notebook[Notebook.errandSlot]?.place == "to a")
            #expect(notebook[Notebook.choreSlot]?.label == "a" && notebook[Notebook.objectSlot] != nil)
            #expect(Set(notebook.tasks.map(\.place)) == ["to a", "to b"])
            #expect(Set(notebook[Notebook.errandsSlot].map(\.place)) == ["to a", "to b"])
            #expect(notebook.steps.map(\.place) == ["to a", "to b"])
            #expect(notebook.ordered(Notebook.stepsSlot).map(\.place) == ["to a", "to b"])
            #expect(notebook.members(Notebook.stepsSlot).map(\.place) == ["to a", "to b"])
            #expect(notebook.doable?.label == "a" && notebook.doables.map(\.label) == ["a", "b"])
            notebook.doable = notebook.doables.last
            #expect(notebook.task?.label == "b")
            notebook[Notebook.errandSlot] = nil
            #expect(notebook.task == nil)
            // What is no errand is there all the same for accessors that promise less.
            let chore = Chore(context: reader)
            chore.label = "c"
            notebook[Notebook.choreSlot] = chore
            #expect(notebook[Notebook.choreSlot]?.label == "c" && notebook[Notebook.objectSlot] === chore)
            #expect(notebook.doable?.label == "c")
        }
    }

    private static func stops(_ body: @escaping (Notebook, Chore) -> Void) throws {
        let store = try TestStore(.memory, model())
        let context = store.context()
        context.performAndWait {
            let (notebook, chore) = (Notebook(context: context), Chore(context: context))
            FileHandle.standardError.write(Data("so far".utf8))
            body(notebook, chore)
        }
    }

    private func check(_ result: ExitTest.Result?) {
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("so far"))
        #expect(text.contains("Chore: an object of the entity was made as Chore and is read as Errand"), "\(text)")
    }

    @Test func anObjectOfAnotherClassIsNotReadAsIt() async {
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.stops { notebook, chore in
                    notebook[Notebook.choreSlot] = chore
                    print(notebook.task?.place ?? "")
                }
            })
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.stops { notebook, chore in
                    notebook.addToTasks(chore)
                    print(notebook.added.count)
                }
            })
        check(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.stops { notebook, chore in
                    notebook.mutableOrderedSetValue(forKey: "steps").add(chore)
                    print(notebook.steps.count)
                }
            })
    }

    @Test func aClassOfNoEntityInTheLineIsRefused() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try Self.stops { notebook, _ in print(notebook[ToOneSlot<Unrelated>("task")] == nil) }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Notebook.task: the accessor does not fit the model: its objects are of class Chore"))
    }
}
