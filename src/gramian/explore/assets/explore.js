// The few lines that run in the browser, where Dash leaves no other way; callbacks name them.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
    gramian: {
        // Asks whether there is WebGL, and how wide the screen is; tells of files that are too large to be sent.
        screen: function(page) {
            const most = Number(document.getElementById('start').dataset.most);
            const check = (event, files) => {
                const file = [...(files || [])].find(one => one.size > most);
                if (!file || !event.target.closest('#upload')) { return; }
                const size = Math.round(file.size / 1e6), limit = Math.round(most / 1e6);
                const words = `${file.name} has ${size} MB; up to ${limit} MB can be uploaded. `
                    + `Start the explorer with it: gramian explore ${file.name}`;
                window.dash_clientside.set_props('upload-says', {children: words});
            };
            document.addEventListener('change', event => check(event, event.target.files), true);
            document.addEventListener('drop', event => check(event, event.dataTransfer.files), true);
            const phone = window.innerWidth <= 900;
            try {
                return {phone, webgl: Boolean(document.createElement('canvas').getContext('webgl'))};
            } catch (error) { return {phone, webgl: false}; }
        },

        // Reads the state in the address, now and whenever the browser goes back or forward.
        address: function(page) {
            if (!page) { return window.dash_clientside.no_update; }
            window.addEventListener('popstate', () => {
                window.dash_clientside.set_props('address', {data: {hash: location.hash}});
            });
            return {hash: location.hash, opens: true};
        },

        // Writes the state into the address.
        writeAddress: function(state) {
            if (state && location.hash !== state) { history[location.hash ? 'pushState' : 'replaceState'](null, '', state); }
            return window.dash_clientside.no_update;
        },

        copy: function(clicks) {
            const say = words => window.dash_clientside.set_props('link', {children: words});
            navigator.clipboard.writeText(location.href).then(() => say('Link copied'), () => say('Copy the address'));
            setTimeout(() => say('Copy link'), 3000);
            return window.dash_clientside.no_update;
        },

        // Light or dark: as the system has it until the button is clicked.
        theme: function(page, clicks) {
            const root = document.documentElement, wish = matchMedia('(prefers-color-scheme: dark)').matches;
            const now = root.dataset.theme || localStorage.getItem('gramian-theme') || (wish ? 'dark' : 'light');
            const next = !clicks ? now : now === 'dark' ? 'light' : 'dark';
            if (clicks) { localStorage.setItem('gramian-theme', next); }
            root.dataset.theme = next;
            return [next, next === 'dark' ? 'Light' : 'Dark'];
        },

        chosenTable: function(clicks) {
            const {triggered_id} = window.dash_clientside.callback_context;
            return {key: triggered_id.table, number: clicks.reduce((sum, one) => sum + (one || 0), 0)};
        },

        // Tables to choose from, and back to the pictures.
        showTables: function(clicks) {
            const shown = document.getElementById('start').hidden;
            if (document.getElementById('about').textContent) {
                window.dash_clientside.set_props('start', {hidden: !shown});
                window.dash_clientside.set_props('work', {hidden: shown});
            }
            return window.dash_clientside.no_update;
        },

        // Controls of a phone: over the lower half of the screen, so that the picture stays in sight.
        drawer: function(clicks) {
            const button = document.getElementById('drawer');
            const open = button.getAttribute('aria-expanded') !== 'true';
            button.setAttribute('aria-expanded', open);
            document.body.classList.toggle('drawer-open', open);
            window.dash_clientside.set_props('drawer', {children: open ? 'Close' : 'Controls'});
            if (open) { window.scrollTo({top: 0}); }
            return window.dash_clientside.no_update;
        },

        // Says beside a slider where it stands.
        sliderLabels: function(width, degree, ridge, C, k, size) {
            return [
                'Width: ' + (2 ** width).toPrecision(2) + ' x median distance',
                'Degree: ' + degree,
                'Ridge: ' + (ridge <= -4 ? 0 : (10 ** ridge).toPrecision(2)),
                'Penalty C: ' + Number((10 ** C).toPrecision(2)),
                (size || 'Components kept') + ': ' + k,
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
        askOneAtATime: function(width, degree, ridge, C, k) {
            const gate = window.gramianGate = window.gramianGate || {since: 0, next: null, number: 0};
            gate.next = {width, degree, ridge, C, k};
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
