import OperationCore
import OperationScheduling

let scheduler = OperationScheduler()
let firstScheduler = OperationScheduler()
let secondScheduler = OperationScheduler()

func log(_ line: String) {}
func showEarthquake() async {}

struct OperationA: EmptyOperation {}
struct OperationB: EmptyOperation {}
struct ImportantOperation: EmptyOperation {}
struct SuperImportantOperation: EmptyOperation {}
struct SomeOperation: EmptyOperation {}
struct MyOperation: EmptyOperation {}
struct GetUserInfo: EmptyOperation, NetworkOperation {}
struct ShowWelcome: EmptyOperation {}
struct NetworkUnreachableAlert: EmptyOperation {}
struct BasicAlert: EmptyOperation {}

struct Download: EmptyOperation {
  let url: String
}

let urls = ["a", "b", "c"]

struct FetchUser: OperationRequest, Sendable {
  let id: Int

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<User, any Error>
  ) async throws -> User { sample() }
}

struct FetchPosts: OperationRequest, Sendable {
  init(of user: User) {}

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<[Post], any Error>
  ) async throws -> [Post] { sample() }
}

actor LoginController {
  private(set) var isLoggedIn = false
}

let controller = LoginController()

struct LoginOperation: OperationRequest, Sendable {
  let loginController: LoginController

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, Never>
  ) async {}
}

enum PassLibrary {
  static let isAvailable = false
}

protocol NetworkOperation {}

struct NetworkObserver: OperationObserver {}
