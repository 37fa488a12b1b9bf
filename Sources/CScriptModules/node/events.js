// events
(function (internal) {
'use strict';
internal.provide('events', () => {
    const checked = (listener) => { if (typeof listener !== 'function') throw internal.badArgument('listener', 'of type function', listener); };
    class EventEmitter {
        constructor() { EventEmitter.init.call(this); }
        static init() {
            if (!this._events || this._events === Object.getPrototypeOf(this)._events) {
                this._events = Object.create(null);
                this._eventsCount = 0;
            }
            this._maxListeners = this._maxListeners || undefined;
        }
        setMaxListeners(count) { this._maxListeners = count; return this; }
        getMaxListeners() { return this._maxListeners === undefined ? EventEmitter.defaultMaxListeners : this._maxListeners; }
        emit(type, ...given) {
            const list = this._events && this._events[type];
            if (!list || list.length === 0) {
                if (type !== 'error') return false;
                if (given[0] instanceof Error) throw given[0];
                throw internal.coded(Error, 'ERR_UNHANDLED_ERROR', `Unhandled error. (${typeof given[0] === 'string' ? `'${given[0]}'` : internal.inspect(given[0])})`, { context: given[0] });
            }
            for (const listener of [...list]) Reflect.apply(listener, this, given);
            return true;
        }
        addListener(type, listener) { return add(this, type, listener, false); }
        on(type, listener) { return add(this, type, listener, false); }
        prependListener(type, listener) { return add(this, type, listener, true); }
        once(type, listener) { checked(listener); return add(this, type, onceOnly(this, type, listener), false); }
        prependOnceListener(type, listener) { checked(listener); return add(this, type, onceOnly(this, type, listener), true); }
        removeListener(type, listener) {
            checked(listener);
            const list = this._events && this._events[type];
            if (!list) return this;
            for (let index = list.length - 1; index >= 0; index--) {
                if (list[index] !== listener && list[index].listener !== listener) continue;
                const rest = list.filter((_, other) => other !== index);
                if (rest.length) this._events[type] = rest;
                else { delete this._events[type]; this._eventsCount--; }
                if (this._events.removeListener) this.emit('removeListener', type, listener);
                break;
            }
            return this;
        }
        off(type, listener) { return this.removeListener(type, listener); }
        removeAllListeners(type) {
            if (!this._events) return this;
            if (type === undefined) { this._events = Object.create(null); this._eventsCount = 0; }
            else if (this._events[type]) { delete this._events[type]; this._eventsCount--; }
            return this;
        }
        listeners(type) { return ((this._events && this._events[type]) || []).map((one) => one.listener || one); }
        rawListeners(type) { return [...((this._events && this._events[type]) || [])]; }
        listenerCount(type, listener) {
            const list = (this._events && this._events[type]) || [];
            return listener ? list.filter((one) => one === listener || one.listener === listener).length : list.length;
        }
        eventNames() { return this._events ? Reflect.ownKeys(this._events) : []; }
    }
    function add(self, type, listener, isFirst) {
        checked(listener);
        if (!self._events) EventEmitter.init.call(self);
        if (self._events.newListener) self.emit('newListener', type, listener.listener || listener);
        const list = self._events[type];
        if (!list) { self._events[type] = [listener]; self._eventsCount++; }
        else self._events[type] = isFirst ? [listener, ...list] : [...list, listener];
        const most = self.getMaxListeners(), count = self._events[type].length;
        if (most > 0 && count > most && !self._warned) {
            self._warned = true;
            internal.process.emitWarning(`Possible EventEmitter memory leak detected. ${count} ${String(type)} listeners added to ${internal.inspect(self, { depth: -1 })}. Use emitter.setMaxListeners() to increase limit`, 'MaxListenersExceededWarning');
        }
        return self;
    }
    function onceOnly(self, type, listener) {
        const state = { fired: false };
        const wrapper = function (...given) {
            if (state.fired) return undefined;
            state.fired = true;
            self.removeListener(type, wrapper);
            return Reflect.apply(listener, self, given);
        };
        wrapper.listener = listener;
        return wrapper;
    }
    // Old programs call it as a function: EventEmitter.call(this).
    const callable = new Proxy(EventEmitter, { apply(target, self) { EventEmitter.init.call(self); } });
    EventEmitter.prototype.constructor = callable;
    internal.define(EventEmitter.prototype, 'constructor', callable);
    for (const key of ['_events', '_eventsCount', '_maxListeners']) internal.define(EventEmitter.prototype, key, undefined);
    EventEmitter.defaultMaxListeners = 10;
    EventEmitter.EventEmitter = callable;
    EventEmitter.default = callable;
    EventEmitter.errorMonitor = Symbol('events.errorMonitor');
    EventEmitter.captureRejectionSymbol = Symbol.for('nodejs.rejection');
    EventEmitter.listenerCount = (emitter, type) => emitter.listenerCount(type);
    EventEmitter.getEventListeners = (emitter, type) => emitter.listeners(type);
    EventEmitter.setMaxListeners = (count, ...emitters) => emitters.forEach((one) => one.setMaxListeners(count));
    EventEmitter.once = (emitter, type) => new Promise((resolve, reject) => {
        if (typeof emitter.addEventListener === 'function') { emitter.addEventListener(type, (event) => resolve([event]), { once: true }); return; }
        const failed = (error) => { emitter.removeListener(type, arrived); reject(error); };
        const arrived = (...given) => { emitter.removeListener('error', failed); resolve(given); };
        emitter.once(type, arrived);
        if (type !== 'error') emitter.once('error', failed);
    });
    EventEmitter.on = (emitter, type) => {
        const waiting = [], values = [];
        let failure;
        emitter.on(type, (...given) => { const next = waiting.shift(); if (next) next.resolve({ value: given, done: false }); else values.push(given); });
        emitter.on('error', (error) => { failure = error; const next = waiting.shift(); if (next) next.reject(error); });
        return {
            next() {
                if (values.length) return Promise.resolve({ value: values.shift(), done: false });
                if (failure) return Promise.reject(failure);
                return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
            },
            return() { return Promise.resolve({ value: undefined, done: true }); },
            [Symbol.asyncIterator]() { return this; },
        };
    };
    return callable;
});
})
