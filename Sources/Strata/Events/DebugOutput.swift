import Foundation
import StrataSupport

/// Prints the library's work on standard error, in the form that users of Core Data know, if the program was asked to;
/// see ``DebugSettings``. Needs no set-up: the first coordinator begins it.
enum DebugOutput {
    /// Begins it, the first time.
    static func startIfAsked() { _ = isStarted }

    private static let isStarted: Bool = {
        // Foundation would read all of the environment.
        let variable = getenv(DebugSettings.variable).map { String(cString: $0) }
        let settings = DebugSettings(arguments: CommandLine.arguments, variable: variable)
        if !settings.unknown.isEmpty {
            let names = DebugSettings.names.map(\.name).joined(separator: ", ")
            StandardDescriptors.writeError(
                "Strata: warning: \(DebugSettings.variable) has \(settings.unknown.joined(separator: ", ")). "
                    + "It takes a level from 1 to 4 and these names: \(names).\n")
        }
        if settings.kinds.isEmpty { return false }
        // Only the whole plan has what is counted for it alone.
        var kinds = settings.kinds
        if settings.level >= DebugLines.planLevel { kinds.formUnion(.explanations) }
        if settings.level >= DebugLines.resultsLevel { kinds.formUnion(.results) }
        _ = EventHub.add(
            EventListener(kinds: kinds) { event in
                // In one piece: other threads print, too.
                StandardDescriptors.writeError(
                    DebugLines(level: settings.level).lines(of: event).map { "CoreData: \($0)\n" }.joined())
            })
        return true
    }()
}
