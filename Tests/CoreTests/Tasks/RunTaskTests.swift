import CoreFixtures
import OperationCore
import Synchronization
import TestFixtures
import Testing

/// What the runs assume of the tasks of the standard library.
@Suite(.bounded)
struct RunTaskTests {
  @Test
  func `The types of a task and of the current task are one reference`() {
    expect(MemoryLayout<UnsafeCurrentTask>.size, equals: MemoryLayout<UInt>.size)
    #expect(MemoryLayout<Task<Void, Never>>.size == MemoryLayout<UInt>.size)
  }

  @Test
  func `A handle made in a task is equal to the handle that its creator has`() async {
    let known = Mutex<RunTask?>(nil)
    let task = Task { known.withLock { $0 = RunTask.current } }
    await task.value
    #expect(known.withLock { $0?.identity } == unsafeBitCast(task, to: UInt.self))  // As `RunTask.identity` does.
  }

  @Test
  func `A task has one identity, and another one than a task in it`() async {
    let first = RunTask.current.identity
    let inner = await Task { RunTask.current.identity }.value
    expect(RunTask.current.identity, equals: first)
    #expect(inner != first)
  }

  @Test
  func `A task is cancelled by its handle before it has suspended`() async {
    let task = Task.immediate { () -> Bool in
      let current = RunTask.current
      // From another thread, while this one waits.
      return onAnotherThread { current.cancel() } && Task.isCancelled
    }
    #expect(await task.value)
  }

  @Test
  func `A handle keeps its task alive`() async {
    let known = Mutex<RunTask?>(nil)
    await Task { known.withLock { $0 = RunTask.current } }.value
    known.withLock { $0?.cancel() }
    known.withLock { $0?.escalatePriority(to: .high) }
    #expect(known.withLock { $0.take() } != nil)
  }
}
