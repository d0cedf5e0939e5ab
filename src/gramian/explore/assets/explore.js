// The few lines that run in the browser, where Dash leaves no other way; callbacks name them.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
    gramian: {
        // Asks whether there is WebGL.
        webgl: function(page) {
            try { return Boolean(document.createElement('canvas').getContext('webgl')); } catch (error) { return false; }
        },

        // Says beside a slider where it stands.
        sliderLabels: function(width, degree, ridge, k) {
            return [
                'Width: ' + (2 ** width).toPrecision(2) + ' x median distance',
                'Degree: ' + degree,
                'Ridge: ' + (ridge <= -4 ? 0 : (10 ** ridge).toPrecision(2)),
                'Components kept: ' + k,
            ];
        },

        // Gives names and roles to what Dash draws without: handles of sliders, buttons of lists, boxes to tick. Lists take the
        // focus themselves, and not through a field that nobody sees.
        accessibleNames: function(page) {
            const set = (node, name, value) => node.getAttribute(name) === value || node.setAttribute(name, value);
            const drop = (node, ...names) => names.forEach(name => node.removeAttribute(name));
            const all = (where, act) => document.querySelectorAll(where).forEach(act);
            const repair = () => {
                all('.slide', box => box.querySelectorAll('[role=slider]').forEach(
                    one => set(one, 'aria-label', box.querySelector('label').textContent.split(':')[0])));
                all('button.dash-dropdown', one => {
                    set(one, 'aria-labelledby', one.id + '-label ' + one.id + '-value');
                    set(one, 'tabindex', '0');
                });
                all('.dash-dropdown-focus-target', one => set(one, 'tabindex', '-1'));
                all('.dash-checklist', one => { set(one, 'role', 'group'); set(one, 'aria-label', one.textContent); });
                all('.dash-checklist label', one => drop(one, 'role', 'aria-selected'));
                all('#upload input', one => { set(one, 'aria-label', 'Table to upload'); set(one, 'tabindex', '-1'); });
            };
            if (!window.gramianNames) {
                let waiting = null;  // plotly.js adds and removes much while it draws; once after is enough
                window.gramianNames = new MutationObserver(changes => {
                    clearTimeout(waiting);
                    if (changes.some(change => change.type === 'attributes')) { repair(); }
                    waiting = setTimeout(repair, 150);
                });
                window.gramianNames.observe(document.body, {
                    childList: true, subtree: true, attributeFilter: ['role', 'tabindex', 'aria-selected', 'aria-labelledby'],
                });
            }
            repair();
            return window.dash_clientside.no_update;
        },

        // Lets one question through at a time; what moves in the meantime waits, and only the last of it is asked.
        askOneAtATime: function(width, degree, ridge, k) {
            const gate = window.gramianGate = window.gramianGate || {since: 0, next: null, number: 0};
            gate.next = {width, degree, ridge, k};
            if (gate.since && performance.now() - gate.since < 2000) { return window.dash_clientside.no_update; }
            const ask = {...gate.next, number: ++gate.number};
            gate.next = null; gate.since = performance.now();
            return ask;
        },

        // Opens the gate when the answer is there. Set from outside: as an output of this callback it would close a circle.
        askTheNext: function(drawn) {
            const gate = window.gramianGate;
            if (!gate) { return window.dash_clientside.no_update; }
            gate.since = 0;
            if (gate.next) {
                const ask = {...gate.next, number: ++gate.number};
                gate.next = null; gate.since = performance.now();
                window.dash_clientside.set_props('ask', {data: ask});
            }
            return window.dash_clientside.no_update;
        },

        // Keeps the numbers of points out of all that plotly.js tells of them.
        picked: function(chosen) {
            if (!chosen || !chosen.points) { return null; }
            const rows = chosen.points.map(point => point.customdata === undefined ? point.pointIndex : point.customdata);
            return [...new Set(rows)];
        },
    },
});
