import CoreFixtures
import Dispatch
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@testable import OperationTools

@Suite(.bounded) struct ReentrantLockTests {
  private final class Box: Sendable {
    let mutex = GuardedNumber()
  }

  private let box = Box()

  @Test func `The owner enters again`() {
    #expect(!box.mutex.isOwnedByCurrentThread)
    let value = box.mutex.withExclusiveAccess {
      #expect(box.mutex.isOwnedByCurrentThread)
      box.mutex.withLock { $0 += 1 }
      box.mutex.withExclusiveAccess {
        box.mutex.withLock { $0 += 1 }
        expect(box.mutex.withLock { $0 }, equals: 2)
      }
      // The inner access has not given the mutex away.
      #expect(box.mutex.isOwnedByCurrentThread)
      return box.mutex.withLock { value in
        value += 1
        return value
      }
    }
    expect(value, equals: 3)
    #expect(!box.mutex.isOwnedByCurrentThread)
    expect(box.mutex.withLock { $0 }, equals: 3)
  }

  @Test func `An error that is thrown ends the exclusive access`() {
    #expect(throws: Refused.self) {
      try box.mutex.withExclusiveAccess { () throws(Refused) in
        box.mutex.withLock { $0 = 7 }
        throw Refused()
      }
    }
    #expect(!box.mutex.isOwnedByCurrentThread)
    expect(box.mutex.withLock { $0 }, equals: 7)
  }

  @Test func `Each mutex has an owner of its own`() {
    let other = Box()
    box.mutex.withExclusiveAccess {
      #expect(!other.mutex.isOwnedByCurrentThread)
      other.mutex.withExclusiveAccess {
        box.mutex.withLock { $0 += 1 }
        other.mutex.withLock { $0 += 2 }
      }
      #expect(box.mutex.isOwnedByCurrentThread)
    }
    expect(box.mutex.withLock { $0 }, equals: 1)
    expect(other.mutex.withLock { $0 }, equals: 2)
  }

  @Test func `The owner keeps other threads out`() async {
    let box = box
    await onThreads(4) { number in
      for round in 0..<2_000 {
        if (round + number).isMultiple(of: 2) {
          box.mutex.withLock { $0 += 1 }
        } else {
          // Nobody else changes the value between the read and the write.
          box.mutex.withExclusiveAccess {
            let value = box.mutex.withLock { $0 }
            box.mutex.withExclusiveAccess { box.mutex.withLock { $0 = value + 1 } }
          }
        }
      }
    }
    expect(box.mutex.withLock { $0 }, equals: 8_000)
  }

  @Test func `Another thread is not the owner`() async {
    let box = box
    let (isOwner, isJudged) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let isOwned = AtomicFlag(true)
    await onThreads(2) { number in
      if number == 0 {
        box.mutex.withExclusiveAccess {
          isOwner.signal()
          isJudged.wait()
        }
      } else {
        isOwner.wait()
        _ = isOwned.set(box.mutex.isOwnedByCurrentThread)
        isJudged.signal()
      }
    }
    #expect(!isOwned.isOn)
  }
}

@Suite(.bounded) struct SwitchTests {
  @Test func `Setting a switch returns the former value`() {
    let isOn = AtomicFlag(false)
    #expect(!isOn.isOn)
    expect(isOn.set(true), equals: false)
    #expect(isOn.isOn)
    expect(isOn.set(true), equals: true)
    expect(isOn.set(false), equals: true)
  }

  @Test func `One of many threads is the first to set a switch`() async {
    let firsts = Atomic(0)
    let isTaken = AtomicFlag(false)
    await onThreads(4) { _ in
      if !isTaken.set(true) { firsts.add(1, ordering: .relaxed) }
    }
    expect(firsts.load(ordering: .relaxed), equals: 1)
  }
}

@Suite(.bounded) struct ThreadLocalTests {
  @Test func `Threads have different identifiers and depths`() async {
    let names = Mutex<Set<UInt>>([])
    // Both are alive when the names are taken.
    let meeting = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    await onThreads(2) { number in
      names.withLock { _ = $0.insert(ThreadLocal.currentThread) }
      expect(ThreadLocal.depth.pointee, equals: 0)
      ThreadLocal.depth.pointee = number + 1
      if number == 0 {
        meeting.0.signal()
        meeting.1.wait()
      } else {
        meeting.1.signal()
        meeting.0.wait()
      }
      expect(ThreadLocal.depth.pointee, equals: number + 1)
    }
    expect(names.withLock { $0.count }, equals: 2)
    #expect(!names.withLock { $0.contains(0) })
  }
}

/// A number that a lock guards.
private final class GuardedNumber: Sendable {
  private let lock = ReentrantLock()
  // Unsafe only in name: the lock guards it.
  nonisolated(unsafe) private var value = 0

  var isOwnedByCurrentThread: Bool { self.lock.isOwnedByCurrentThread }

  func withLock<R>(_ body: (inout Int) -> R) -> R { self.lock.withLock { body(&self.value) } }

  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try self.lock.withExclusiveAccess(body)
  }
}
