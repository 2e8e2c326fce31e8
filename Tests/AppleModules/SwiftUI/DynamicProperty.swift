/// dynamicproperty: a protocol without isolation, so a wrapper that conforms to it keeps its own.
public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}

/// state
@propertyWrapper
public struct State<Value>: DynamicProperty {
  public init(wrappedValue value: Value) {}

  public var wrappedValue: Value {
    get { leftOut() }
    nonmutating set { leftOut() }
  }

  public var projectedValue: Binding<Value> { leftOut() }
}

extension State: Sendable where Value: Sendable {}

/// binding
@propertyWrapper
public struct Binding<Value>: DynamicProperty {
  public init(projectedValue: Binding<Value>) {}

  public var wrappedValue: Value {
    get { leftOut() }
    nonmutating set { leftOut() }
  }

  public var projectedValue: Binding<Value> { self }
}

/// environment
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {}

  public var wrappedValue: Value { leftOut() }
}

/// environmentvalues
public struct EnvironmentValues {
  public var dismiss: DismissAction { leftOut() }
}

/// dismissaction
@MainActor @preconcurrency
public struct DismissAction {
  @MainActor @preconcurrency
  public func callAsFunction() { leftOut() }
}
