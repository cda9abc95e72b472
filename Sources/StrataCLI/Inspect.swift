import ArgumentParser
import Foundation
import StrataBrowsing

#if Inspect
import StrataInspect
#endif

/// A page to look at a store with.
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a page on this machine to look at a store with a browser.",
        discussion: """
            Prints a URL to open, which has a token in it: whoever has not been given it sees nothing. Only this \
            machine can reach the page. From another one, open a tunnel, for instance ssh -L 8080:127.0.0.1:8080 HOST \
            with --port 8080 at both ends. Ends with Ctrl-C.
            """)

    @OptionGroup var argument: StoreArgument
    @Option(help: "The port to listen on; 0 for one that is free.")
    var port = 0

    func validate() throws {
        guard 0...65_535 ~= port else { throw ValidationError("--port is a number from 0 to 65535.") }
    }

    func run() async throws {
        #if Inspect
        do {
            let server = try InspectServer(store: argument.url, port: port) { url in
                Terminal.output.write("\(url)\n")
                Terminal.output.flush()
            }
            try await server.run()
        } catch {
            throw CommandError.reported(error)
        }
        #else
        throw CommandError(
            "this build of the command has no inspect: build it with --traits Inspect, as make install does")
        #endif
    }
}
