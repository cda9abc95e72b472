import Bookshop
import CoreData
import Foundation

/// Fills a shop in memory and prints its books.
@main
enum BookshopDemo {
    static func main() async throws {
        let container = NSPersistentContainer(name: "Bookshop", managedObjectModel: BookshopModel.shared)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }

        let lines = try await container.performBackgroundTask { context in
            let author = Author(context: context)
            author.name = "Henry David Thoreau"
            for (title, pages) in [("Walden", 352), ("Cape Cod", 250)] {
                let book = Book(context: context)
                book.title = title
                book.pages = pages
                book.pages += 1
                book.format = .paperback
                author.addToBooks(book)
            }
            try context.save()

            let request: NSFetchRequest<Book> = Book.fetchRequest()
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
            return try context.fetch(request).map { book in
                "\(book.author?.initials ?? "") \(book.title): \(book.pages) pages, \(book.format)"
            }
        }
        for line in lines { print(line) }
    }
}
