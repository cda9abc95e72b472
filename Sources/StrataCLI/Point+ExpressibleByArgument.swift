import ArgumentParser
import StrataBrowsing

extension Point: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
