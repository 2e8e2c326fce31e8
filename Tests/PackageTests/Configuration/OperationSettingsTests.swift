#if SwiftOperationConfiguration
  import Configuration
  import OperationCircuitBreaker
  import OperationConfiguration
  import OperationCore
  import OperationHedging
  import OperationLimits
  import OperationRetry
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded, .warningsAreIssues) struct OperationSettingsTests {
    private let provider = MutableInMemoryProvider(initialValues: [
      "posts.permits": 2, "posts.queue": 10, "posts.failureRatio": 0.5,
    ])

    private func settings(_ context: OperationContext = OperationContext()) -> OperationSettings {
      OperationSettings(ConfigReader(provider: self.provider).scoped(to: "posts"), context: context)
    }

    @Test func `A binding is applied when it is made`() {
      let limit = ConcurrencyLimit(1)
      self.settings().bind(.integer("permits"), .integer("queue")) { values in
        limit.update(permits: values.integer("permits"), queue: values.integer("queue"))
      }
      #expect(limit.permits == 2 && limit.snapshot().queue == 10)
    }

    @Test func `A value changes in the provider, and the limit changes while a run is under way`() async throws {
      let (limit, script) = (ConcurrencyLimit(1), OperationScript<Int, any Error>())
      let settings = self.settings()
      let applied = ChangeLog()
      settings.bind(.integer("permits")) { values in
        limit.update(permits: values.integer("permits"))
        applied.add(limit.permits)
      }
      let running = Task { try await settings.run() }
      let operation = script.operation().limited(by: limit)
      let tasks = (0..<4).map { _ in Task.immediate { try await operation.runWithoutSetup() } }
      #expect(script.runCount == 2 && limit.waitingCount == 2)
      self.provider.setValue(4, forKey: "posts.permits")
      try await applied.count(2)
      #expect(script.runCount == 4 && limit.waitingCount == 0)
      for _ in tasks { try await script.next().succeed(1) }
      for task in tasks { try await expect(task.value, equals: 1) }
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
      expect(limit.activeCount, equals: 0)
    }

    @Test func `A breaker follows numbers and durations, and only changes are applied`() {
      let breaker = CircuitBreaker(minimumRuns: 10)
      let count = Box(0)
      let settings = self.settings()
      settings.bind(.number("failureRatio"), .number("slowAfter"), .flag("isolated")) { values in
        count.value += 1
        breaker.update(failureRatio: values.number("failureRatio"), slowAfter: values.seconds("slowAfter"))
        if values.flag("isolated") == true { breaker.isolate() }
      }
      settings.apply()
      self.provider.setValue(7, forKey: "posts.queue")
      settings.apply()
      #expect(count.value == 1 && breaker.state == .closed)
      // An integer is a number, too.
      self.provider.setValue(1, forKey: "posts.failureRatio")
      self.provider.setValue(0.25, forKey: "posts.slowAfter")
      self.provider.setValue(true, forKey: "posts.isolated")
      settings.apply()
      #expect(count.value == 2 && breaker.state == .isolated)
    }

    @Test func `Bad and removed values are reported, and the last good ones stay`() {
      let limit = ConcurrencyLimit(1)
      let settings = self.settings()
      settings.bind(.integer("permits"), .integer("queue")) { values in
        limit.update(permits: values.integer("permits"), queue: values.integer("queue"))
      }
      self.provider.setValue(0, forKey: "posts.permits")
      expectWarning(.invalidArgument) { settings.apply() }
      expect(limit.permits, equals: 2)
      self.provider.setValue("many", forKey: "posts.permits")
      self.provider.setValue(20, forKey: "posts.queue")
      expectWarning(.invalidArgument) { settings.apply() }
      #expect(limit.permits == 2 && limit.snapshot().queue == 20)
      // Reported once, and not with each later version.
      settings.apply()
      self.provider.setValue(nil, forKey: "posts.permits")
      settings.apply()
      expect(limit.permits, equals: 2)
      self.provider.setValue(3, forKey: "posts.permits")
      settings.apply()
      expect(limit.permits, equals: 3)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `A duration that is none is reported, and is nil`(number: Double) {
      let seconds = Box<Duration?>(.zero)
      self.provider.setValue(ConfigValue(.double(number), isSecret: false), forKey: "posts.wait")
      expectWarning(.invalidArgument) {
        self.settings().bind(.number("wait")) { seconds.value = $0.seconds("wait") }
      }
      expect(seconds.value, equals: nil)
    }

    @Test func `An impossible number of retries, hedges, keys or of a budget changes nothing`() {
      let retry = RetrySettings(limit: 3)
      let hedge = HedgeSettings(after: .fixed(.seconds(1)), maximum: 2)
      let budget = RetryBudget(ratio: 0.2)
      let settings = self.settings()
      settings.bind(.integer("retries")) { retry.update(limit: $0.integer("retries")) }
      settings.bind(.integer("hedges")) { hedge.update(maximum: $0.integer("hedges")) }
      settings.bind(.number("ratio")) { budget.update(ratio: $0.number("ratio")) }
      self.provider.setValue(-1, forKey: "posts.retries")
      self.provider.setValue(0, forKey: "posts.hedges")
      self.provider.setValue(ConfigValue(.double(.nan), isSecret: false), forKey: "posts.ratio")
      let recorder = WarningRecorder()
      recorder.recording { settings.apply() }
      for (warning, text) in zip(recorder.warnings, ["`limit: -1`", "`maximum: 0`", "`ratio: nan`"]) {
        #expect(warning.message.contains(text))
      }
      expect(recorder.warnings.count, equals: 3)
      #expect(retry.limit == 3 && hedge.maximum == 2 && budget.ratio == 0.2)
    }

    @Test(arguments: [-1, 1e300, 0, 1.5])
    func `A duration of any number of seconds is possible to read`(number: Double) {
      self.provider.setValue(ConfigValue(.double(number), isSecret: false), forKey: "posts.wait")
      let seconds = Box<Duration?>(nil)
      self.settings().bind(.number("wait"), .text("missing")) { values in
        seconds.value = values.seconds("wait")
        #expect(values.text("missing") == nil && values.integer("wait") == nil && values.flag("other") == nil)
      }
      expect(seconds.value, equals: .seconds(min(max(number, -1e12), 1e12)))
    }

    @Test func `Observers hear which values have changed`() {
      let log = NoticeLog()
      var context = OperationContext()
      context.operationNoticeObservers = [log]
      let settings = self.settings(context)
      settings.bind(.integer("queue"), .integer("permits")) { _ in }
      settings.bind(.text("title")) { _ in }
      #expect(log.all.isEmpty)
      self.provider.setValue("Posts", forKey: "posts.title")
      self.provider.setValue(3, forKey: "posts.permits")
      settings.apply()
      expect(log.descriptions, equals: ["settings.changed settings.keys=permits title"])
    }

    @Test func `A binding may bind and apply, which happens after it`() {
      let settings = self.settings()
      let log = Log<String>()
      settings.bind(.integer("permits")) { [weak settings] _ in
        log.append("begin")
        settings?.bind(.integer("queue")) { _ in log.append("inner") }
        settings?.apply()
        log.append("end")
      }
      expect(log.all, equals: ["begin", "end", "inner"])
    }

    @Test func `Parallel changes end with the last values`() async {
      let limit = ConcurrencyLimit(1)
      let settings = self.settings()
      settings.bind(.integer("permits")) { limit.update(permits: $0.integer("permits")) }
      await withTaskGroup { group in
        for worker in 1...8 {
          group.addTask {
            for number in 1...100 {
              self.provider.setValue(ConfigValue(.int(worker * number), isSecret: false), forKey: "posts.permits")
              settings.apply()
            }
          }
        }
      }
      self.provider.setValue(7, forKey: "posts.permits")
      settings.apply()
      expect(limit.permits, equals: 7)
    }

    @Test func `Settings are released when nobody uses them`() async throws {
      let lifetimes = LifetimeTracker()
      do {
        let settings = self.settings()
        settings.bind(.integer("permits")) { [token = lifetimes.token()] _ in token.touch() }
        let running = Task { try await settings.run() }
        running.cancel()
        _ = await running.result
      }
      try await lifetimes.noneAlive()
    }
  }

  /// The values that a binding has applied, for which a test waits.
  private final class ChangeLog: Sendable {
    private let stream: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
      (self.stream, self.continuation) = AsyncStream.makeStream(of: Int.self)
    }

    func add(_ value: Int) { self.continuation.yield(value) }

    func count(_ count: Int) async throws {
      try await withTimeLimit("the values") {
        for await _ in self.stream.prefix(count) {}
      }
    }
  }
#endif
