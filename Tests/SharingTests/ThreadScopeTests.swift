import OperationPlatform
import TestFixtures
import Testing

@Suite(.bounded) struct ThreadScopeTests {
  @Test func `An action is put off until the outermost scope ends`() {
    let log = Log<Int>()
    let outer = ThreadScope()
    let inner = ThreadScope()
    #expect(ThreadScope.putOff { log.append(2) })
    inner.end()
    log.append(1)
    #expect(ThreadScope.putOff { log.append(3) })
    outer.end()
    expect(log.all, equals: [1, 2, 3])
  }

  @Test func `Without a scope nothing is put off`() {
    #expect(!ThreadScope.putOff {})
    ThreadScope().end()
    #expect(!ThreadScope.putOff {})
  }

  @Test func `An action begins with no scope, and may begin one`() {
    let log = Log<Int>()
    let scope = ThreadScope()
    #expect(
      ThreadScope.putOff {
        let scope = ThreadScope()
        log.append(1)
        _ = ThreadScope.putOff { log.append(3) }
        log.append(2)
        scope.end()
      }
    )
    scope.end()
    expect(log.all, equals: [1, 2, 3])
  }

  @Test func `Each thread has its own scopes`() {
    let scope = ThreadScope()
    defer { scope.end() }
    let log = Log<Bool>()
    SetterThread { log.append(ThreadScope.putOff {}) }.runAndWait()
    expect(log.all, equals: [false])
  }
}
