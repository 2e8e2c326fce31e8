internal import Observation
internal import OperationCore

extension ObservedStore: Observable {
  /// Names a property of the state for the observation registrar, which knows properties by key path.
  subscript(property name: PropertyName) -> Void { () }

  /// Reads a property of the state on behalf of an observer.
  func value<Member>(of keyPath: any KeyPath<State, Member> & Sendable) -> Member {
    let name = PropertyName(keyPath: keyPath)
    self.remember(name, ObservedProperty(keyPath))
    self.registrar.access(self, keyPath: \ObservedStore[property: name])
    return self.state[keyPath: keyPath]
  }

  /// Reads what the state of the wrapper says of the value, on behalf of an observer.
  func flag(_ keyPath: any KeyPath<ObservedState<State>, Bool> & Sendable) -> Bool {
    let name = PropertyName(keyPath: keyPath)
    self.remember(name, ObservedProperty(comparing: { $0[keyPath: keyPath] }))
    self.registrar.access(self, keyPath: \ObservedStore[property: name])
    return self.current[keyPath: keyPath]
  }

  /// Adds a property that was read. A property that was added before keeps its comparison.
  private func remember(_ name: PropertyName, _ property: @autoclosure () -> ObservedProperty<State>) {
    // A key path may contain values of users, whose `==` and `hash` must not run under the lock: the table is read and
    // copied without it.
    while true {
      let (properties, version) = self.guarded.withLock { ($0.properties, $0.propertiesVersion) }
      guard properties[name] == nil else { return }
      var grown = properties
      grown[name] = property()
      let isKept = self.guarded.withLock { guarded, released in
        guard guarded.propertiesVersion == version else { return false }
        released.append(guarded.properties)
        guarded.properties = grown
        guarded.propertiesVersion += 1
        return true
      }
      if isKept { return }
    }
  }
}
