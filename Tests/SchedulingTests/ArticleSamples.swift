import OperationCore
import OperationScheduling
import OperationTesting
import Synchronization
import Testing

// The samples of the article "Advanced operations" and of the documentation, word for word.

private let lines = Mutex<[String]>([])

private func log(_ line: String) {
  lines.withLock { $0.append(line) }
}

struct LogOperation<T: Sendable>: OperationRequest, Sendable {
  let value: T

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Never>
  ) async {
    log("\(self.value)")
  }
}

struct LogObserver: OperationObserver {
  func operationDidStart(_ operation: AnyScheduledOperation) {
    log("\(operation.name) did start")
  }

  func operation(
    _ operation: AnyScheduledOperation,
    didProduce other: AnyScheduledOperation
  ) {
    log("\(operation.name) did produce \(other.name)")
  }

  func operation(
    _ operation: AnyScheduledOperation,
    didFinishWith outcome: OperationOutcome
  ) {
    log("\(operation.name): \(outcome)")
  }
}

struct LoggedInCondition: OperationCondition {
  let loginController: LoginController

  func dependency(
    in context: OperationContext
  ) -> (any OperationRequest & Sendable)? {
    LoginOperation(loginController: self.loginController)
  }

  enum Failure: Error { case notLoggedIn }

  func evaluate(
    in context: OperationContext
  ) async -> OperationConditionResult {
    await self.loginController.isLoggedIn
      ? .satisfied
      : .denied(Failure.notLoggedIn)
  }
}

struct PassbookCondition: OperationCondition {
  struct NotAvailable: Error {}

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    PassLibrary.isAvailable ? .satisfied : .denied(NotAvailable())
  }
}

enum Alert {}

// What the samples use.

enum PassLibrary {
  static let isAvailable = false
}

actor LoginController {
  private(set) var isLoggedIn = false
  private let accepts: Bool

  init(accepts: Bool) {
    self.accepts = accepts
  }

  func logIn() {
    self.isLoggedIn = self.accepts
  }
}

/// An operation that logs its name.
private protocol LoggingOperation: OperationRequest, Sendable where Value == Void, Failure == any Error {}

extension LoggingOperation {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    log(self.operationName)
  }
}

protocol NetworkOperation {}

struct NetworkObserver: OperationObserver {
  func operationDidStart(_ operation: AnyScheduledOperation) { log("network on") }

  func operation(_ operation: AnyScheduledOperation, didFinishWith outcome: OperationOutcome) { log("network off") }
}

private struct OperationA: LoggingOperation {}
private struct OperationB: LoggingOperation {}
private struct ImportantOperation: LoggingOperation {}
private struct SuperImportantOperation: LoggingOperation {}
private struct SomeOperation: LoggingOperation {}
private struct MyOperation: LoggingOperation {}
private struct GetUserInfo: LoggingOperation, NetworkOperation {}
private struct ShowWelcome: LoggingOperation {}
private struct NetworkUnreachableAlert: LoggingOperation {}
private struct BasicAlert: LoggingOperation {}

private struct Download: LoggingOperation {
  let url: String
}

struct LoginOperation: OperationRequest, Sendable {
  let loginController: LoginController

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Never>
  ) async {
    log("login")
    await self.loginController.logIn()
  }
}

private struct FetchUser: OperationRequest, Sendable {
  let id: Int

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    "user \(self.id)"
  }
}

private struct FetchPosts: OperationRequest, Sendable {
  let user: String

  init(of user: String) {
    self.user = user
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] {
    ["a post of \(self.user)"]
  }
}

private struct FetchList: OperationRequest, Sendable {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[String], any Error>
  ) async throws -> [String] {
    ["a", "b"]
  }
}

private struct WriteIndex: LoggingOperation {
  let list: [String]

  init(of list: [String]) {
    self.list = list
  }
}

private struct LoggedIn: OperationCondition {
  func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
}

private func showEarthquake() async {
  log("earthquake")
}

// One after the other, as they share what is logged.
@Suite(.serialized, .timeLimit(.minutes(10)), .warningsAreIssues)
struct ArticleSamples {
  init() {
    lines.withLock { $0 = [] }
  }

  private var logged: [String] { lines.withLock { $0 } }

  @Test func `An operation, and one from a closure`() async {
    let scheduler = OperationScheduler()
    scheduler.schedule(LogOperation(value: "Test"))
    await scheduler.waitUntilEmpty()
    #expect(self.logged == ["Test"])
    scheduler.schedule(named: "show earthquake") { _ in
      await showEarthquake()
    }
    await scheduler.waitUntilEmpty()
    #expect(self.logged == ["Test", "earthquake"])
  }

  @Test func `Dependencies and injection`() async throws {
    let scheduler = OperationScheduler()
    let first = scheduler.schedule(OperationA())
    let second = scheduler.schedule(OperationB()) {
      $0.addDependency(first)
    }
    try await second.value
    #expect(self.logged == ["OperationA", "OperationB"])

    let user = scheduler.schedule(FetchUser(id: 1))
    let posts = scheduler.schedule(injecting: user) { user in FetchPosts(of: user) }
    #expect(try await posts.value == ["a post of user 1"])
  }

  @Test func `Vital operations`() async {
    let scheduler = OperationScheduler()
    scheduler.schedule(ImportantOperation(), vital: true)
    scheduler.schedule(SomeOperation())
    await scheduler.waitUntilEmpty()
    #expect(self.logged == ["ImportantOperation", "SomeOperation"])

    let (firstScheduler, secondScheduler) = (OperationScheduler(), OperationScheduler())
    let superImportant = firstScheduler.schedule(SuperImportantOperation())
    secondScheduler.addDependency(superImportant)
    secondScheduler.schedule(SomeOperation())
    await secondScheduler.waitUntilEmpty()
    #expect(self.logged[2...] == ["SuperImportantOperation", "SomeOperation"])
  }

  @Test func `Observers`() async throws {
    let scheduler = OperationScheduler()
    let myOperation = scheduler.schedule(MyOperation())
    myOperation.observe {
      $0.didStart { log("started") }
      $0.didProduce { other in log("produced \(other.name)") }
      $0.didSucceed { log("succeeded") }
      $0.didFail { error in log("failed: \(error)") }
    }
    try await myOperation.value
    #expect(Set(self.logged) == ["started", "MyOperation", "succeeded"])
  }

  @Test(arguments: [true, false])
  func `Conditions`(accepts: Bool) async {
    let scheduler = OperationScheduler()
    let controller = LoginController(accepts: accepts)
    let request = GetUserInfo().condition(
      LoggedInCondition(loginController: controller)
    )
    let operation = scheduler.schedule(request)
    if accepts {
      await #expect(throws: Never.self) { try await operation.value }
      #expect(self.logged == ["login", "GetUserInfo"])
    } else {
      await #expect(throws: LoggedInCondition.Failure.notLoggedIn) { try await operation.value }
      #expect(self.logged == ["login"])
    }
    let pass = scheduler.schedule(GetUserInfo().condition(PassbookCondition()))
    await #expect(throws: PassbookCondition.NotAvailable.self) { try await pass.value }
  }

  @Test func `Modules`() async throws {
    let scheduler = OperationScheduler()
    scheduler.addEnqueuingModule { operation, scheduler in
      operation.addObserver(LogObserver())
    }
    scheduler.addEnqueuingModule { operation, _ in
      if operation.operationType is any NetworkOperation.Type {
        operation.addObserver(NetworkObserver())
      }
    }
    try await scheduler.schedule(GetUserInfo()).value
    #expect(
      self.logged == [
        "GetUserInfo did start", "network on", "GetUserInfo", "GetUserInfo: succeeded", "network off",
      ]
    )
    try await scheduler.schedule(OperationA()).value
    #expect(!self.logged[5...].contains("network on"))
  }

  @Test func `Mutual exclusion`() async {
    let scheduler = OperationScheduler()
    let networkAlert = NetworkUnreachableAlert()
      .condition(MutuallyExclusive<Alert>())
    let basicAlert = BasicAlert()
      .mutuallyExclusive(Alert.self)
    scheduler.schedule(networkAlert)
    scheduler.schedule(basicAlert)
    await scheduler.waitUntilEmpty()
    #expect(Set(self.logged) == ["NetworkUnreachableAlert", "BasicAlert"])
  }

  @Test func `Conditions out of the box`() async throws {
    let controller = LoginController(accepts: true)
    let quiet = GetUserInfo().condition(SilentCondition(LoggedInCondition(loginController: controller)))
    let guest = ShowWelcome().condition(!SilentCondition(LoggedInCondition(loginController: controller)))
    let strict = GetUserInfo().condition(NoCancelledDependencies()).condition(NoFailedDependencies())
    let either = GetUserInfo().condition(LoggedInCondition(loginController: controller) || PassbookCondition())
    await #expect(throws: LoggedInCondition.Failure.notLoggedIn) { try await quiet.runOnce() }
    try await guest.runOnce()
    try await strict.runOnce()
    try await either.runOnce()
    #expect(self.logged == ["ShowWelcome", "GetUserInfo", "login", "GetUserInfo"])
  }

  @Test func `The module in a few lines`() async throws {
    let scheduler = OperationScheduler(maximumConcurrentOperations: 4)

    let list = scheduler.schedule(FetchList().condition(LoggedIn()))
    let index = scheduler.schedule(injecting: list) { list in
      WriteIndex(of: list).mutuallyExclusive("index")
    }
    try await index.value
    #expect(self.logged == ["WriteIndex"])
  }

  @Test func `Groups`() async throws {
    let scheduler = OperationScheduler()
    let urls = ["a", "b", "c"]
    let group = OperationGroup("import", maximumConcurrentOperations: 4)
    for url in urls { group.schedule(Download(url: url)) }
    let imported = scheduler.schedule(group)

    for await counts in group.progress.updates { log("\(counts.completed) of \(counts.total)") }
    try await imported.value
    #expect(self.logged.contains("3 of 3"))
    #expect(self.logged.count { $0 == "Download" } == 3)
  }
}
