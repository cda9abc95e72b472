import CoreData
import Foundation
import Notes
import Testing

/// The program of the tutorial, step by step.
@Suite struct NotesTests {
    @Test func theTutorialsStepsWork() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let token: NSPersistentHistoryToken?
        do {
            let notebook = try Notebook(at: url)
            let id = try await notebook.add("Pond", "Ice whoops in the night", to: "Walden")
            _ = try await notebook.add("Beans", "Hoeing, and no ICE", to: "Walden")
            _ = try await notebook.add("Tides", "Salt", to: "Cape Cod")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { try await notebook.starRepeatedly(id) } }
                try await group.waitForAll()
            }
            #expect(try await notebook.titles(containing: "ice") == ["Walden: Pond", "Walden: Beans"])
            let first = try await notebook.changes(since: nil)
            #expect(first.lines.count == 5 + 8, "three notes, two folders, eight stars")
            token = first.token
            try await notebook.container.close()
        }
        let again = try Notebook(at: url)
        #expect(try await again.titles(containing: "salt") == ["Cape Cod: Tides"])
        _ = try await again.add("Light", "The lighthouse", to: "Cape Cod")
        // The note, and the folder's other end of the relationship needs no row.
        #expect(try await again.changes(since: token).lines.count == 1)
        try await again.container.close()
    }
}
