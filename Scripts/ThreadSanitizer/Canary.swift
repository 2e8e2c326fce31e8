// The tests of the canary of Scripts/check-sanitizers: one is sound, each of the others has one fault.

import Foundation
import Synchronization
import Testing

final class Counter: @unchecked Sendable {
  // Unguarded on purpose.
  var value = 0
  let first = Mutex(())
  let second = Mutex(())
  let turn = Atomic(0)
}

/// A value that is copied on write.
struct Shared: @unchecked Sendable {
  final class Storage {
    var value = 0
  }

  private var storage = Storage()

  var value: Int {
    get { self.storage.value }
    set {
      if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage() }
      self.storage.value = newValue
    }
  }
}

/// What needs Scripts/ThreadSanitizer to be recognised as sound: a contended lock, continuations resumed early, and copies
/// on write.
@Test func sound() async throws {
  final class Holder: Sendable {
    let shared = Mutex(Shared())
  }
  let holder = Holder()
  await withTaskGroup(of: Void.self) { group in
    group.addTask { for number in 0..<20_000 { holder.shared.withLock { $0.value = number } } }
    // Reads its copy after the lock.
    group.addTask { for _ in 0..<20_000 { #expect(holder.shared.withLock { $0 }.value < 20_000) } }
  }

  let counter = Counter()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<4 {
      group.addTask { for _ in 0..<20_000 { counter.first.withLock { _ in counter.value += 1 } } }
    }
  }
  #expect(counter.value == 80_000)

  for _ in 0..<10_000 {
    let counter = Counter()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        counter.value += 1
        continuation.resume()
      }
    }
    counter.value += 1
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Task {
        counter.value += 1
        continuation.resume()
      }
    }
    counter.value += 1
    await withUnsafeContinuation { continuation in
      Task {
        counter.value += 1
        continuation.resume()
      }
    }
    #expect(counter.value == 5)
  }
}

/// Two threads take turns in a way that orders nothing.
func takeTurns(
  _ counter: Counter,
  one: @escaping @Sendable () -> Void,
  other: @escaping @Sendable () -> Void
) {
  Thread.detachNewThread {
    while counter.turn.load(ordering: .relaxed) != 1 {}
    other()
    counter.turn.store(2, ordering: .relaxed)
  }
  one()
  counter.turn.store(1, ordering: .relaxed)
  while counter.turn.load(ordering: .relaxed) != 2 {}
}

@Test func plainRace() {
  let counter = Counter()
  takeTurns(counter) {
    counter.value += 1
  } other: {
    counter.value += 1
  }
  #expect(counter.turn.load(ordering: .relaxed) == 2)
}

@Test func raceUnderTwoLocks() {
  let counter = Counter()
  takeTurns(counter) {
    counter.first.withLock { _ in counter.value += 1 }
  } other: {
    counter.second.withLock { _ in counter.value += 1 }
  }
  #expect(counter.turn.load(ordering: .relaxed) == 2)
}

@Test func useAfterFree() {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.initialize(repeating: 1, count: 4)
  numbers.deallocate()
  #expect(numbers[2] != 2)
}

final class Link {
  var next: Link?
}

@Test func leak() {
  let link = Link()
  link.next = Link()
  link.next?.next = link
  #expect(link.next != nil)
}
