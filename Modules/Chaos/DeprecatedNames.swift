extension Chaos {
  @available(*, deprecated, renamed: "init(failureRatio:latencyRatio:latency:seed:)")
  @_disfavoredOverload
  public convenience init(
    failures: Double = 0,
    latency: Double = 0,
    of delays: ClosedRange<Duration> = .milliseconds(100)...(.seconds(1)),
    seed: UInt64 = .random(in: 0 ... .max)
  ) {
    self.init(failureRatio: failures, latencyRatio: latency, latency: delays, seed: seed)
  }

  @available(*, deprecated, renamed: "failureRatio")
  public var failures: Double { self.failureRatio }

  @available(*, deprecated, renamed: "latencyRatio")
  public var latency: Double { self.latencyRatio }
}
