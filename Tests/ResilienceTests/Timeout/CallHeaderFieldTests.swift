import FoundationEssentials
import OperationCore
import OperationTesting
import OperationTimeout
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct CallHeaderFieldTests {
  private let clock = ManualClock()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    // The usual priority, whatever the test runs with.
    context.operationTaskConfiguration.priority = .medium
    return context
  }

  private func context(remaining: Duration) -> OperationContext {
    var context = self.context
    context.operationDeadline = self.clock.instant.advanced(by: remaining)
    return context
  }

  // MARK: - Giving

  @Test(arguments: [
    (Duration.milliseconds(1500), "1500000u"), (.seconds(2), "2000000u"), (.nanoseconds(7), "7n"), (.zero, "0n"),
    (.seconds(-5), "0n"), (.seconds(100), "100000m"), (.seconds(1_000_000), "1000000S"),
    (.seconds(99_999_999), "99999999S"),
    (.seconds(100_000_000), "1666667M"), (.seconds(3_000_000_000), "50000000M"),
    (.nanoseconds(99_999_999), "99999999n"),
    (Duration(secondsComponent: 0, attosecondsComponent: 1), "1n"),
  ])
  func `The time that is left has eight digits at most, and is rounded up`(remaining: Duration, text: String) {
    expect(self.context(remaining: remaining).callHeaderFields(), equals: ["grpc-timeout": text])
  }

  @Test func `Each field has its format`() {
    let fields = self.context(remaining: .milliseconds(1250)).callHeaderFields(CallHeaderField.all)
    expect(
      fields,
      equals: [
        "grpc-timeout": "1250000u", "x-envoy-expected-rq-timeout-ms": "1250",
        "X-Request-Deadline": "2001-01-01T00:00:01.250Z",
      ]
    )
  }

  @Test func `Without a deadline and with the usual priority there is no field`() {
    #expect(self.context.callHeaderFields(CallHeaderField.all).isEmpty)
    #expect(self.context(remaining: .seconds(1)).callHeaderFields([]).isEmpty)
  }

  @Test(arguments: [
    (TaskPriority.high, "u=1"), (.low, "u=5"), (.background, "u=7"), (TaskPriority(rawValue: 255), "u=1"),
    (TaskPriority(rawValue: 0), "u=7"),
  ])
  func `The priority is an urgency`(priority: TaskPriority, text: String) {
    var context = self.context
    context.operationTaskConfiguration.priority = priority
    expect(context.callHeaderFields(), equals: ["Priority": text])
  }

  @Test(arguments: [
    (OperationCriticality.sheddable, "SHEDDABLE"), (.sheddablePlus, "SHEDDABLE_PLUS"), (.criticalPlus, "CRITICAL_PLUS"),
  ])
  func `The criticality is a level of the book`(criticality: OperationCriticality, text: String) {
    var context = self.context
    context.operationCriticality = criticality
    expect(context.callHeaderFields(), equals: ["X-Request-Criticality": text])
  }

  // MARK: - Taking

  private func remaining(_ fields: [String: String]) -> Duration? {
    var context = self.context
    context.readCallHeaderFields(fields)
    return context.operationTimeRemaining
  }

  @Test(arguments: [
    ("1500m", Duration.milliseconds(1500)), ("0n", .zero), ("7n", .nanoseconds(7)), ("3u", .microseconds(3)),
    ("2S", .seconds(2)), ("3M", .seconds(180)), ("2H", .seconds(7200)), (" 5S ", .seconds(5)),
    ("99999999H", .seconds(100 * 365 * 86_400)),
  ])
  func `The time of gRPC is read`(text: String, remaining: Duration) {
    expect(self.remaining(["GRPC-Timeout": text]), equals: remaining)
  }

  @Test(arguments: ["", "S", "5", "5s", "-5S", "+5S", "1.5S", "123456789S", "nanS", "٣S", "5 S", "0x1S", "5SS"])
  func `A malformed time of gRPC changes nothing`(text: String) {
    expect(self.remaining(["grpc-timeout": text]), equals: nil)
  }

  @Test(
    arguments: [
      ("1500", Duration.milliseconds(1500)), ("0", .zero), ("999999999999999999", .seconds(100 * 365 * 86_400)),
      ("9999999999999999999", nil), ("-1", nil), ("nan", nil), ("", nil), ("1.5", nil),
    ] as [(String, Duration?)]
  )
  func `The time of Envoy is read`(text: String, remaining: Duration?) {
    expect(self.remaining(["x-envoy-expected-rq-timeout-ms": text]), equals: remaining)
  }

  @Test(
    arguments: [
      ("2001-01-01T00:00:01.250Z", Duration.milliseconds(1250)), ("2001-01-01T00:00:02Z", .seconds(2)),
      ("2001-01-01T02:00:02+02:00", .seconds(2)), ("1999-01-01T00:00:00Z", .zero),
      ("978307201500", .milliseconds(1500)),
      ("0", .zero), ("999999999999999999", .seconds(100 * 365 * 86_400)), ("tomorrow", nil), ("", nil), ("nan", nil),
      ("-5", nil),
    ] as [(String, Duration?)]
  )
  func `A date is read`(text: String, remaining: Duration?) throws {
    let read = self.remaining(["x-request-deadline": text])
    expect((read == nil), equals: (remaining == nil))
    if let read, let remaining { #expect(abs(read / .seconds(1) - remaining / .seconds(1)) < 1e-3) }
  }

  @Test func `The earliest deadline counts, one of the context included`() {
    expect(self.remaining(["grpc-timeout": "2S", "x-envoy-expected-rq-timeout-ms": "1000"]), equals: .seconds(1))
    var context = self.context(remaining: .milliseconds(500))
    context.readCallHeaderFields(["grpc-timeout": "2S"])
    expect(context.operationTimeRemaining, equals: .milliseconds(500))
    context.readCallHeaderFields(["grpc-timeout": "1m"])
    expect(context.operationTimeRemaining, equals: .milliseconds(1))
  }

  @Test func `Only the fields that are named are read`() {
    var context = self.context
    context.readCallHeaderFields(
      ["grpc-timeout": "1S", "x-envoy-expected-rq-timeout-ms": "9000", "priority": "u=7"],
      [.envoyExpectedTimeout],
      takesPriority: false
    )
    expect(context.operationTimeRemaining, equals: .seconds(9))
    expect(context.operationTaskConfiguration.priority, equals: .medium)
  }

  @Test(
    arguments: [
      ("u=0", TaskPriority.high), ("u=2", .high), ("u=3", .medium), ("u=4, i", .low), ("i, u=5", .low),
      ("u=7;x=1", .background), ("  u=6", .background), ("u=8", nil), ("u=-1", nil), ("u=12", nil), ("u", nil),
      ("", nil),
      ("U=1", nil), ("u=5, u=1", .high), ("u=1;x, u=6", .background), ("u=1, u=9", nil), ("u=1, u", nil), ("i", nil),
      ("u=nan", nil),
    ] as [(String, TaskPriority?)]
  )
  func `An urgency is a priority`(text: String, priority: TaskPriority?) {
    var context = OperationContext()
    context.readCallHeaderFields(["priority": text])
    expect(context.operationTaskConfiguration.priority, equals: priority)
  }

  @Test(
    arguments: [
      ("SHEDDABLE", .sheddable), (" critical_plus ", .criticalPlus), ("Sheddable_Plus", .sheddablePlus),
      ("CRITICAL", .critical), ("0", nil), ("3", nil), ("-1", nil), ("nan", nil), ("", nil), ("CRITICAL+", nil),
      ("SHEDDABLEPLUS", nil),
    ] as [(String, OperationCriticality?)]
  )
  func `A level is a criticality, and anything else changes nothing`(text: String, criticality: OperationCriticality?) {
    var context = OperationContext()
    context.operationCriticality = .sheddablePlus
    context.readCallHeaderFields(["x-request-criticality": text], takesPriority: false)
    expect(context.operationCriticality, equals: .sheddablePlus)
    context.readCallHeaderFields(["x-request-criticality": text])
    expect(context.operationCriticality, equals: criticality ?? .sheddablePlus)
  }

  @Test(arguments: [Duration.milliseconds(3), .seconds(5), .seconds(100_000_000)])
  func `What one service gives, the next one takes`(remaining: Duration) {
    var context = self.context(remaining: remaining)
    context.operationTaskConfiguration.priority = .background
    context.operationCriticality = .sheddable
    var next = self.context
    next.readCallHeaderFields(context.callHeaderFields(CallHeaderField.all))
    #expect(next.operationTaskConfiguration.priority == .background && next.operationCriticality == .sheddable)
    let read = next.operationTimeRemaining ?? .zero
    #expect(abs(read / .seconds(1) - remaining / .seconds(1)) < 1e-3 || read == remaining)
  }

  // MARK: - Work whose caller has gone

  @Test func `A run whose deadline has passed on arrival is rejected before its body`() async throws {
    let bodies = Log<Int>()
    let work = Work<Int, any Error> { _, _ in bodies.append(1) }.deadline()
    var context = self.context
    context.readCallHeaderFields(["grpc-timeout": "0n"])
    let error = await #expect(throws: OperationTimedOut.self) { try await work.runWithoutSetup(in: context) }
    #expect(bodies.all.isEmpty)
    #expect(error?.hasBegun == false && error?.isLocalRejection == true)
    expect(error?.description, equals: "The time of the operation was over before it began.")
  }

  @Test func `A run whose deadline passes ends then, and has begun`() async throws {
    let script = OperationScript<Int, any Error>()
    let runner = OperationRunner(operation: script.query().deadline(), initialContext: self.context)
    var context = self.context
    context.readCallHeaderFields(["grpc-timeout": "2S"])
    let task = Task.immediate { [context] in try await runner.run(isolation: nil, in: context) }
    let run = try await script.next()
    expect(run.context.callHeaderFields(), equals: ["grpc-timeout": "2000000u"])
    self.clock.advance(by: .seconds(2))
    let error = await #expect(throws: OperationTimedOut.self) { try await task.value }
    #expect(run.isCancelled && error?.hasBegun == true && error?.isLocalRejection == false)
    expect(self.clock.sleeperCount(), equals: 0)
  }

  @Test func `A run without a deadline has no limit and no timer`() async throws {
    let script = OperationScript<Int, any Error>()
    let query = script.query().deadline()
    let task = Task.immediate { [context] in try await query.runWithoutSetup(in: context) }
    let run = try await script.next()
    expect(self.clock.sleeperCount(), equals: 0)
    self.clock.advance(by: .seconds(1_000_000))
    run.succeed(1)
    try await expect(task.value, equals: 1)
  }

  @Test func `The failure of a deadline can be one of the operation's own`() async throws {
    let work = Work<Int, Refused> { _, _ in 1 }.deadline(else: { Refused(code: $0.hasBegun ? 1 : 2) })
    let context = self.context(remaining: .zero)
    await #expect(throws: Refused(code: 2)) { try await work.runWithoutSetup(in: context) }
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `A timeout without time is a rejection on this side, too`(limit: Duration) async {
    let work = Work<Int, any Error> { _, _ in 1 }
    let operation = limit < .zero ? expectWarning(.invalidArgument) { work.timeout(limit) } : work.timeout(limit)
    let error = await #expect(throws: OperationTimedOut.self) { try await operation.runWithoutSetup(in: self.context) }
    #expect(error?.hasBegun == false && error?.afterAttempt().hasBegun == true)
  }
}
