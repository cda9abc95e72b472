import Foundation
import OO7Load
import Strata

extension OO7Objects {
    public func parts(_ ids: [Int64]) throws -> UInt64 {
        try sumOfParts(NSPredicate(format: "id IN %@", ids))
    }

    public func parts(builtSince date: Int64) throws -> UInt64 {
        try sumOfParts(NSPredicate(format: "buildDate >= %@", NSNumber(value: date)))
    }

    public func allParts() throws -> UInt64 { try sumOfParts(nil) }

    private func sumOfParts(_ predicate: NSPredicate?) throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<AtomicPart>(entityName: "AtomicPart")
            request.predicate = predicate
            return try context.fetch(request).reduce(0) { $0 &+ $1.digest }
        }
    }

    public func assemblies(usingDocuments titles: [String]) throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<Document>(entityName: "Document")
            request.predicate = NSPredicate(format: "title IN %@", titles)
            request.relationshipKeyPathsForPrefetching = ["part.usedIn"]
            var sum: UInt64 = 0
            for document in try context.fetch(request) {
                for assembly in document.part?.usedIn ?? [] { sum &+= assembly.digest }
            }
            return sum
        }
    }

    public func outdatedBaseAssemblies() throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<BaseAssembly>(entityName: "BaseAssembly")
            request.predicate = NSPredicate(format: "ANY components.buildDate > buildDate")
            return try context.fetch(request).reduce(0) { $0 &+ $1.digest }
        }
    }

    /// No predicate goes down a hierarchy of any depth: the base assemblies are read with their components, and what
    /// they say goes up from assembly to assembly.
    public func outdatedAssemblies() throws -> UInt64 {
        try inContext { context in
            let request = NSFetchRequest<BaseAssembly>(entityName: "BaseAssembly")
            request.relationshipKeyPathsForPrefetching = ["components"]
            var newest: [Assembly: Int64] = [:]
            for base in try context.fetch(request) {
                let date = base.components.reduce(0) { max($0, $1.buildDate) }
                var assembly: Assembly? = base
                // Who is above knows of a newer one already where this ends.
                while let current = assembly, newest[current] ?? -1 < date {
                    newest[current] = date
                    assembly = current.superAssembly
                }
            }
            return newest.reduce(0) { $0 &+ ($1.value > $1.key.buildDate ? $1.key.digest : 0) }
        }
    }

    public func documentsAndParts() throws -> UInt64 {
        try inContext { context in
            let documents = try context.fetch(NSFetchRequest<Document>(entityName: "Document"))
            let titles = Dictionary(uniqueKeysWithValues: documents.map { ($0.id, $0) })
            var sum: UInt64 = 0
            for part in try context.fetch(NSFetchRequest<AtomicPart>(entityName: "AtomicPart")) {
                guard let document = titles[part.docId] else { continue }
                sum &+= pairDigest(part: part.id, document: document.id, titleByteCount: document.title.utf8.count)
            }
            return sum
        }
    }
}
