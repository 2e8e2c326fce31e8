import Foundation
import OperationCore
import OperationPagination
import OperationTesting
import Testing

func print(_ items: Any...) {
  FileHandle.standardError.write(Data((items.map { "\($0)" }.joined(separator: " ") + "\n").utf8))
}

@Suite(.timeLimit(.minutes(1)), .serialized)
struct DebugTests {
  @Test(arguments: [30, 500, 2000])
  func `line`(count: Int) async throws {
    let lifetimes = LifetimeTracker()
    do {
      let shelf = Shelf()
      let store = ListStore.detached(query: shelf.request, initialValue: List("a"))
      var context = OperationContext()
      context.token2 = lifetimes.token()
      let calls = (0..<count).map { [context] _ in start { try await store.run(using: context) } }
      print(count, "started", store.allPagesActiveTasks.count, store.nextPageActiveTasks.count)
      for call in calls.reversed() { call.cancel() }
      print("cancelled", store.allPagesActiveTasks.count, store.nextPageActiveTasks.count)
      for call in calls { _ = await call.result }
      print("done", shelf.script.runCount)
    }
    print("alive", lifetimes.aliveCount)
    try await lifetimes.noneAlive()
    print("over")
  }
}
extension OperationContext {
  fileprivate var token2: LifetimeTracker.Token? {
    get { self[TokenKey.self] }
    set { self[TokenKey.self] = newValue }
  }

  private enum TokenKey: Key {
    static let defaultValue: LifetimeTracker.Token? = nil
  }
}
