import CoreData
import Foundation
import Testing

/// Asynchronous fetches, templates, fetched properties.
@Suite struct FetchAsyncTests {
    @Test(arguments: StoreKind.allCases) func resultsArriveOnTheContextsQueue(_ kind: StoreKind) async throws {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "age >= 22")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let names: [String] = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                let new = Employee(context: context)
                new.age = 50
                new.name = "A"
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    // Only on the queue may objects be read.
                    #expect(result.operationError == nil && result.progress?.isFinished == true)
                    #expect(result.progress?.totalUnitCount == 25 && result.managedObjectContext === context)
                    continuation.resume(returning: (result.finalResult ?? []).map(\.name))
                }
                fetch.estimatedResultCount = 25
                do {
                    let result = try context.execute(fetch) as? NSAsynchronousFetchResult<Employee>
                    #expect(result?.finalResult == nil && result?.fetchRequest === fetch)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(names.count == 25 && names.first == "A" && names == names.sorted())
    }

    @Test(arguments: StoreKind.allCases) func cancelledFetchesSaySo(_ kind: StoreKind) async throws {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
        request.resultType = .managedObjectIDResultType
        let code: Int? = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    #expect(result.finalResult == nil)
                    continuation.resume(returning: (result.operationError as? CocoaError)?.code.rawValue)
                }
                do {
                    let result = try context.execute(fetch) as? NSAsynchronousFetchResult<NSManagedObjectID>
                    // The results are made on this queue, so they cannot be there before it is free.
                    result?.cancel()
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(code == 3072)
    }

    @Test(arguments: StoreKind.allCases) func nonsenseFailsAtOnceAndBlocksRunOnTheQueue(_ kind: StoreKind) async throws
    {
        let store = try FetchOptionsTests.filled(kind)
        let context = store.context()
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.predicate = NSPredicate(format: "nothing == 3")
        try context.performAndWait {
            #expect(throws: CocoaError.self) {
                try context.execute(NSAsynchronousFetchRequest(fetchRequest: request))
            }
            request.predicate = NSPredicate(format: "age == 20")
            let result = try context.execute(request) as? NSAsynchronousFetchResult<Employee>
            #expect(result?.finalResult?.count == 8)
        }
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                request.predicate = NSPredicate { object, _ in (object as? Employee)?.age == 20 }
                let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    continuation.resume(returning: result.finalResult?.count ?? -1)
                }
                do { _ = try context.execute(fetch) } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(count == 8)
    }

    @Test func theErasedCompletionBlockReachesTheTypedOne() throws {
        let store = try FetchOptionsTests.filled(.memory)
        let context = store.context()
        try context.performAndWait {
            var seen: [Employee] = []
            let typed = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Employee>(entityName: "Employee")) {
                seen = $0.finalResult ?? []
            }
            let erased = try context.execute(NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee"))
            let result = try #require(erased as? NSAsynchronousFetchResult<any NSFetchRequestResult>)
            typed.completionBlock?(result)
            #expect(seen.count == 40)
        }
    }

    // MARK: Templates

    private func templated() -> NSManagedObjectModel {
        let model = GraphModel.company()
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Employee"]
        request.predicate = NSPredicate(format: "age >= $LOW AND age <= $HIGH")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        model.setFetchRequestTemplate(request, forName: "ByAge")
        let all = NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")
        all.fetchLimit = 2
        model.setFetchRequestTemplate(all, forName: "Some")
        return model
    }

    @Test(arguments: StoreKind.allCases) func templatesAreRequests(_ kind: StoreKind) throws {
        let model = templated()
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            for age in 10..<20 { Employee(context: context).age = Int16(age) }
            try context.save()
            let request = try #require(
                model.fetchRequestFromTemplate(withName: "ByAge", substitutionVariables: ["LOW": 12, "HIGH": 14]))
            #expect(try context.fetch(request).compactMap { ($0 as? Employee)?.age }.sorted() == [12, 13, 14])
            #expect(request.entity === model.entitiesByName["Employee"])
            let template = try #require(model.fetchRequestTemplate(forName: "ByAge"))
            #expect(template.predicate?.formatString == "age >= $LOW AND age <= $HIGH")
            template.fetchLimit = 9
            #expect(model.fetchRequestTemplate(forName: "ByAge")?.fetchLimit == 0)
            #expect(Set(model.fetchRequestTemplatesByName.keys) == ["ByAge", "Some"])
            #expect(model.fetchRequestTemplate(forName: "None") == nil)
            #expect(model.fetchRequestFromTemplate(withName: "None", substitutionVariables: [:]) == nil)
            let copy = try #require(model.copy() as? NSManagedObjectModel)
            copy.setFetchRequestTemplate(nil, forName: "Some")
            #expect(copy.fetchRequestTemplatesByName.count == 1 && model.fetchRequestTemplatesByName.count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func fetchedPropertiesAreKeptUntilRefreshed(_ kind: StoreKind) throws {
        let model = GraphModel.company()
        let property = NSFetchedPropertyDescription()
        property.name = "peers"
        property.userInfo = ["minimum": 20]
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        request.predicate = NSPredicate(
            format: "age == $FETCH_SOURCE.age AND SELF != $FETCH_SOURCE "
                + "AND age >= $FETCHED_PROPERTY.userInfo.minimum")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        property.fetchRequest = request
        let employee = try #require(model.entitiesByName["Employee"])
        employee.properties.append(property)
        #expect(property.fetchRequest?.entityName == "Employee")
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            let people = (0..<6).map { number in
                let employee = number == 5 ? Manager(context: context) : Employee(context: context)
                employee.name = "E\(9 - number)"
                employee.age = number < 4 ? 30 : 5
                return employee
            }
            try context.save()
            func peers(_ employee: Employee) -> [String] {
                // A property that is declared @NSManaged as an array says the same.
                #expect(employee.peers == employee.value(forKey: "peers") as? [Employee])
                #expect(employee.peersOrNil == employee.peers)
                return employee.peers.map(\.name)
            }
            #expect(peers(people[0]) == ["E6", "E7", "E8"])
            #expect(peers(people[5]) == [])
            people[1].age = 31
            try context.save()
            #expect(peers(people[0]) == ["E6", "E7", "E8"])
            context.refresh(people[0], mergeChanges: true)
            #expect(peers(people[0]) == ["E6", "E7"])
            // The request may be another one in a model that is in use, as what it refers to may.
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            property.fetchRequest = request
            context.refresh(people[0], mergeChanges: true)
            #expect(peers(people[0]) == ["E7", "E6"])
            property.userInfo = ["minimum": 50]
            context.refresh(people[0], mergeChanges: true)
            #expect(peers(people[0]) == [])
            model.localizationDictionary = ["Entity/Employee": "Mensch"]
            #expect(model.localizationDictionary == ["Entity/Employee": "Mensch"])
        }
    }
}

private let fetchedSlots = ManagedSlots("peers")

/// What the plugin ManagedAccessors generates for `@NSManaged var peers: [Employee]`.
extension Employee {
    fileprivate var peers: [Employee] { _property(fetchedSlots, 0, as: [Employee].self) }
    fileprivate var peersOrNil: [Employee]? { _propertyOrNil(fetchedSlots, 0, as: [Employee]?.self) }
}
