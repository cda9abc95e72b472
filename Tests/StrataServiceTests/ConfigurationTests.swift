import Configuration
import StrataService
import Testing

@Suite struct ConfigurationTests {
    private func options(_ values: [AbsoluteConfigKey: ConfigValue]) -> StrataStore.Options {
        StrataStore.Options(
            config: ConfigReader(provider: InMemoryProvider(values: values)).scoped(to: "strata"))
    }

    @Test func keysThatAreThereCount() {
        let options = options([
            "strata.pool.readers": 3, "strata.pool.writers": 0, "strata.pool.wait.seconds": 0.5,
            "strata.drain.seconds": 2.5, "strata.health.free.bytes": 7, "strata.health.consumer.lag": 8,
            "strata.telemetry.slow.fetch.seconds": 0.25, "strata.telemetry.shows.requests": true,
            "strata.pool.name": "books", "strata.status.interval.seconds": 7.0,
        ])
        #expect(options.pool.readers == 3 && options.pool.writers == 1 && options.pool.name == "books")
        #expect(options.pool.timeLimit == .milliseconds(500) && options.drainTimeLimit == .milliseconds(2_500))
        #expect(options.statusInterval == .seconds(7))
        #expect(options.minimumFreeBytes == 7 && options.maximumConsumerLag == 8)
        #expect(options.telemetry?.slowFetch == .milliseconds(250))
        #expect(options.telemetry?.showsRequests == true && options.telemetry?.showsValues == false)
    }

    @Test func othersHaveTheirDefaults() {
        let options = options(["strata.drain.seconds": -1, "strata.telemetry.enabled": false])
        #expect(options.drainTimeLimit == .seconds(10) && options.pool.readers == 16)
        #expect(options.telemetry == nil && options.statusInterval == .seconds(2))
        #expect(self.options(["strata.status.interval.seconds": 0.0]).statusInterval == nil)
    }
}
